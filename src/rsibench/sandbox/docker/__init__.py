"""Sandboxes by the docker command. Never run against a daemon by this project; see the design note."""
