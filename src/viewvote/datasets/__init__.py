"""Datasets: a catalog of cards as data, small readers, and one way to open any of them."""

from .base import Dataset, ImageFiles, Item
from .catalog import CATALOG, SUITES, Card, suite
from .open import open_dataset

__all__ = [
    "CATALOG",
    "SUITES",
    "Card",
    "Dataset",
    "ImageFiles",
    "Item",
    "open_dataset",
    "suite",
]
