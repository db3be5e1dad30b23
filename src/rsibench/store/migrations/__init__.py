"""The history of the tables, oldest first, in `versions/`. A released file is never edited; a change is a new file."""
