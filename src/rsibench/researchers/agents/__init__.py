"""Adapters of command line agents, one a file."""
