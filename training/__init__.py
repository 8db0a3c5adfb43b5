"""How the pocket model is made; run a step from the checkout as `python -m training.fit_joint` (see README.md)."""
