"""Images into folders of their labels, copied or moved, so that any interruption can be continued and all undone."""
