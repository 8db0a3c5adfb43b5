"""Reading checkpoints as their authors released them, without ever unpickling one."""
