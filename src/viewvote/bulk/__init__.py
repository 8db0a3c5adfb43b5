"""Tables of answers to millions of images: folders of Parquet parts, written by one process or by a cluster."""

from .job import BulkJob, Recipe
from .run import Totals, classify_bulk

__all__ = ["BulkJob", "Recipe", "Totals", "classify_bulk"]
