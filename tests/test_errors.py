"""Messages of errors: as they were written, and never longer than a screen."""

from viewvote.errors import UnknownNameError, UnreadableImageError, UsageError


def test_a_message_is_shown_as_it_was_written():
    assert str(UnknownNameError("no method 'tpt2'.")) == "no method 'tpt2'."
    assert str(UsageError()) == "UsageError"


def test_a_long_message_is_cut_in_its_middle():
    message = str(UnreadableImageError("cannot read " + "a" * 5000 + ": File name too long."))
    assert len(message) == 1005
    assert message.startswith("cannot read aaa")
    assert message.endswith("aaa: File name too long.")
    assert " ... " in message


def test_a_message_of_many_lines_keeps_the_first_and_the_last():
    lines = str(UsageError("\n".join(map(str, range(100))))).splitlines()
    assert lines == [*map(str, range(18)), "...", "99"]
