"""Methods that tune a model on one image and put it back bit for bit; all but `episode` need torch."""
