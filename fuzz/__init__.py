"""Hostile inputs for everything viewvote reads: `python -m fuzz --minutes 10 [--target images,tables]`.

Run from the repository's root. docs/reliability.md lists what is promised, docs/results/reliability.md what was found.
"""
