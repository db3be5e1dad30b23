"""The ledger: what a run may spend, has set aside and has spent. Reserved before it is spent, settled after."""
