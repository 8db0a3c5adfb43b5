"""`python -m viewvote` is the `viewvote` command."""

from .cli import main

main()
