"""Campaigns: a matrix of runs, planned, started cell by cell, watched and continued. A cell is an ordinary run."""
