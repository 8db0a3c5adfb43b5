"""Records computed by actors of a Ray cluster."""
