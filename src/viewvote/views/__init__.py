"""Views: where they look, how they are drawn, and an image on its way to the encoder."""
