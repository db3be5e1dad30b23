"""Evaluation: from a checkpoint and items to trials, verdicts and scores. Knows nothing of budgets or attempts."""
