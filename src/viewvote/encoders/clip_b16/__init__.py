"""OpenAI's CLIP ViT-B/16 image tower with a text side of our own."""
