"""Label sets: the words to choose from and the sentences they stand in."""
