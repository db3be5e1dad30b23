"""The `lab` command: one file of standard library Python that is copied into the researcher's workspace."""
