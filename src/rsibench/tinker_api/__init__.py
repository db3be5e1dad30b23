"""What training and sampling over the official Tinker SDK share: the connection, its time limits, its failures."""
