"""Sandboxes by bubblewrap: user, process, network, IPC, host name and cgroup namespaces without capabilities."""
