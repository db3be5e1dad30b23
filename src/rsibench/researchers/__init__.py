"""Researchers: who improves the data. Each runs as a process of its own that knows its workspace and the lab only."""
