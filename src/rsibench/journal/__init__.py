"""The journal: typed events, appended only, each bound to the one before it by a hash."""
