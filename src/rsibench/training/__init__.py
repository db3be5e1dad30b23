"""Training: the one SFT loop over any trainer, and the local trainer. It never samples and never judges."""
