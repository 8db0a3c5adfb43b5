"""Who computes a run's records, and where."""
