"""One file per format that a table is written in."""
