"""What a classifier answers: a Prediction, its trace and table of views, and the JSON that they are written as."""

from .answer import NONE_OF_THESE, EachLabel, Prediction
from .trace import Anchor, Evidence, Trace
from .values import label_keys
from .view_table import Box, ViewColumns, ViewTable, ViewTrace

__all__ = [
    "NONE_OF_THESE",
    "Anchor",
    "Box",
    "EachLabel",
    "Evidence",
    "Prediction",
    "Trace",
    "ViewColumns",
    "ViewTable",
    "ViewTrace",
    "label_keys",
]
