"""An image that is piped in."""

import io
from types import SimpleNamespace

import pytest

from viewvote.errors import UsageError
from viewvote.images.photo import ImageLimits
from viewvote.sources import read_stdin, stdin

LIMIT = ImageLimits().max_bytes


def test_standard_input_is_read_up_to_the_limit(monkeypatch):
    piped = io.BytesIO(bytes(LIMIT + 100))
    monkeypatch.setattr(stdin.sys, "stdin", SimpleNamespace(buffer=piped, isatty=lambda: False))
    assert len(read_stdin()) == LIMIT + 1  # enough to be refused
    assert piped.tell() == LIMIT + 1


@pytest.mark.parametrize("nothing", [None, SimpleNamespace(isatty=lambda: True)])
def test_a_terminal_and_a_closed_stream_are_nothing_piped_in(monkeypatch, nothing):
    monkeypatch.setattr(stdin.sys, "stdin", nothing)
    with pytest.raises(UsageError, match="nothing is piped in"):
        read_stdin()
