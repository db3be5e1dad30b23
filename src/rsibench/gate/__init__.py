"""The gate: decides whether a submission may be trained on, before anything is spent; lists every reason when not."""
