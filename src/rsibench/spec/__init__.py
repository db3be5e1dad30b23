"""Frozen models of what is asked for (profile, recipe, budget, prices) and what was resolved (lock)."""
