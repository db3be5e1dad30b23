"""The live face: the pages of runs while they go on, for a browser. It reads the store and changes nothing."""
