"""The process that holds one sandbox: makes its mounts and limits, passes signals on, and cleans up after it."""
