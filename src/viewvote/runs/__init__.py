"""Runs: a spec in, a folder of records out; killed at any moment, it continues where it stopped."""

from .execute import run
from .plan import plan_runs
from .spec import RunSpec

__all__ = ["RunSpec", "plan_runs", "run"]
