"""Frames: recorded runs as tables for analysis, built from journals and written as Parquet. Layout: docs/frames.md."""
