"""Methods that learn from the stream they classify: order matters, and `reset` forgets.

They are kept apart from the others because their answers depend on what came before. A method is a frozen dataclass;
its `start` opens a stream, which holds the state.
"""
