"""One file a revision, run by `rsibench.store.migrate`."""
