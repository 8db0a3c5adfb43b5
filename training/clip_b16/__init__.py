"""How the text side of clip-b16 is made; run a step as `python -m training.clip_b16.fit_head` (see README.md)."""
