"""`aclassify`: the loop goes on meanwhile, and a task that is cancelled stops its thread."""

import asyncio

import pytest

from tests.conftest import Gate, draw_photo
from tests.images.pictures import picture, same
from viewvote import Classifier, UsageError
from viewvote.errors import UnreadableImageError


@pytest.fixture
def gate():
    """A model that waits before its first batch."""
    gate = Gate()
    gate.open.clear()
    return gate


async def when(event):
    """Wait for an event of another thread without blocking the loop."""
    for _ in range(3000):
        if event.is_set():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the event never came")


def test_the_answer_is_that_of_a_call():
    clf = Classifier("toy", labels=["red", "green"], n_views=64)
    image = draw_photo(60, 50)

    async def ask():
        return await asyncio.gather(*(clf.aclassify(image) for _ in range(5)))

    for answer in asyncio.run(ask()):
        assert same(answer, clf(image))
        assert answer.source() is image


def test_the_loop_goes_on_while_views_are_encoded(gate):
    clf = Classifier(gate, labels=["red", "green"], n_views=8)

    async def ask():
        answer = asyncio.create_task(clf.aclassify(picture()))
        await when(gate.entered)
        assert not answer.done()
        gate.open.set()
        return await answer

    assert asyncio.run(ask()).label == "red"


def test_cancelled_it_ends_at_once_and_its_thread_with_the_batch(gate, monkeypatch):
    monkeypatch.setattr("viewvote.classify.in_thread.VIEWS_AT_ONCE", 16)
    clf = Classifier(gate, labels=["red", "green"], n_views=64)

    async def ask():
        answer = asyncio.create_task(clf.aclassify(picture()))
        await when(gate.entered)
        answer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answer
        gate.open.set()

    asyncio.run(ask())  # waits for the threads of the loop
    assert gate.batches == [16]


def test_errors_are_those_of_a_call(tmp_path):
    clf = Classifier("toy", labels=["red", "green"], n_views=4)
    with pytest.raises(UnreadableImageError, match="missing"):
        asyncio.run(clf.aclassify(tmp_path / "missing.png"))
    with pytest.raises(UsageError, match="predict_many"):
        asyncio.run(clf.aclassify([picture()]))
