"""Datasets: a catalog of cards as data, small readers, and one way to open any of them."""

from .base import Dataset, ImageFiles, Item
from .catalog import CATALOG, SUITES, Card, suite
from .opening import open_dataset
from .paper import PaperRow, paper_rows

__all__ = [
    "CATALOG",
    "SUITES",
    "Card",
    "Dataset",
    "ImageFiles",
    "Item",
    "PaperRow",
    "open_dataset",
    "paper_rows",
    "suite",
]
