"""Rows that may stop for ever: read to the end, given up when nobody works on them, left when nobody wants them."""

import itertools
import threading
import time

import pytest

from viewvote.runs.engines.ray.watched import Watched

PATIENCE = 0.3


def stuck(*rows, released):
    """Rows, and then nothing, as from a cluster that waits for what is lost."""
    yield from rows
    released.wait(30)


@pytest.fixture
def released():
    event = threading.Event()
    yield event
    event.set()


def test_rows_that_end_are_all_read():
    rows = Watched(iter(range(5)), beats=lambda: 0, patience=PATIENCE)
    assert list(rows) == [0, 1, 2, 3, 4]
    assert rows.ended


def test_an_error_between_rows_is_raised_after_those_before_it():
    def failing():
        yield 1
        raise OSError("the cluster is gone")

    reading = iter(Watched(failing(), beats=lambda: 0, patience=PATIENCE))
    assert next(reading) == 1
    with pytest.raises(OSError, match="the cluster is gone"):
        next(reading)


def test_rows_are_given_up_when_none_comes_and_nobody_works(released):
    rows = Watched(stuck(1, 2, released=released), beats=lambda: 7, patience=PATIENCE)
    assert list(rows) == [1, 2]
    assert not rows.ended


def test_rows_that_are_worked_on_are_waited_for():
    def slow():
        time.sleep(4 * PATIENCE)
        yield 1

    rows = Watched(slow(), beats=itertools.count().__next__, patience=PATIENCE)
    assert list(rows) == [1]
    assert rows.ended


def test_work_that_stops_before_the_first_row_is_given_up(released):
    beats = itertools.chain([0, 1, 2], itertools.repeat(3))
    rows = Watched(stuck(released=released), beats=beats.__next__, patience=PATIENCE)
    assert list(rows) == []
    assert not rows.ended


def test_work_that_has_not_begun_is_waited_for():
    def late():
        time.sleep(4 * PATIENCE)
        yield 1

    assert list(Watched(late(), beats=lambda: 0, patience=PATIENCE)) == [1]


def test_a_reader_that_takes_long_gives_nothing_up():
    rows = Watched(iter(range(3)), beats=lambda: 0, patience=PATIENCE)
    read = []
    for row in rows:
        time.sleep(1.5 * PATIENCE)
        read.append(row)
    assert read == [0, 1, 2]


def test_rows_that_nobody_reads_on_are_closed():
    closed = threading.Event()

    def rows():
        try:
            yield from itertools.count()
        finally:
            closed.set()

    reading = iter(Watched(rows(), beats=lambda: 0, patience=PATIENCE))
    assert next(reading) == 0
    reading.close()
    assert closed.wait(10)
