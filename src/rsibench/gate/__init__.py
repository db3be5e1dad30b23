"""The gate: decides whether a submission may be trained on, before anything is spent, and lists every reason when not."""
