"""What the site does beside Sphinx and its theme, each in a file."""
