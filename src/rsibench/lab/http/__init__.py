"""The lab over HTTP: the only place that imports FastAPI. What it serves is the Session's first group of methods."""
