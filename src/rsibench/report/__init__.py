"""What people read: the self-contained page of a run and the tables that commands print. It decides nothing."""
