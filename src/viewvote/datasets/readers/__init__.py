"""One file per way that a dataset lies on disk."""
