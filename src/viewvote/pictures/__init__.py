"""Pictures of predictions and records: explanations, contact sheets, plots."""
