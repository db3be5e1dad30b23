"""Finding protected evaluation material in training rows. Inputs are protected items and rows, outputs are findings."""
