"""Training and sampling in a process of their own: what the run sees is `WorkerEngine`."""
