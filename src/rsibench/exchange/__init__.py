"""Exchange with other tools: Inspect logs and dataset folders out, Harbor jobs and RSIGym records in."""
