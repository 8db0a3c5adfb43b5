"""Zero-shot image classification that augments, predicts, keeps the confident views and votes."""

__version__ = "0.1.0"
