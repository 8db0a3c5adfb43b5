"""What ships beside a model: when its votes may stop, how likely its answers are, whether a label is there at all."""
