"""Datasets: a catalog of cards as data, small readers, and one way to open any of them."""

from .base import Dataset, ImageFiles, Item
from .cards import load_cards, register_dataset, use_cards
from .catalog import CATALOG, SUITES, Card, add_cards, suite
from .open import open_dataset, read_class_names

__all__ = [
    "CATALOG",
    "SUITES",
    "Card",
    "Dataset",
    "ImageFiles",
    "Item",
    "add_cards",
    "load_cards",
    "open_dataset",
    "read_class_names",
    "register_dataset",
    "suite",
    "use_cards",
]
