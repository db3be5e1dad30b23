"""One run as plain functions: plan, prepare, research, commit, official, seal, verify. Wires the siblings together."""
