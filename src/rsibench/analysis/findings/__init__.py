"""Findings: what a set of recorded runs shows, with intervals and what chance would give, ready to be printed."""
