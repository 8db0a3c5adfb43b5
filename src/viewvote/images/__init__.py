"""Photographs: opened within limits, upright, in RGB, resized."""
