"""Encoders that run in torch: open_clip, transformers, and learned prompts on them."""
