"""What a run writes down for each sample, and those lines as numpy columns."""
