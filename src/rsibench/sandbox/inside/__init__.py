"""Programs that run inside a sandbox, with the standard library only: the first process, and the checks of a probe."""
