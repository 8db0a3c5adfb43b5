"""Pictures and tables made from predictions and records."""
