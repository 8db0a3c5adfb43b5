"""Hostile inputs for everything viewvote reads: `python -m fuzz --minutes 10 [--target images,tables]`.

Run from the repository's root. docs/reliability.md lists what the targets promise and the figures of the last campaign.
"""
