"""The semantic stage: rows that say the same as an item in other words, by vectors. Needs the extra `semantic`."""
