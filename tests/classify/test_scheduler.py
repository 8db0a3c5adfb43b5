"""The queue in front of the encoder: full batches, answers in order, few images at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewvote.classify.scheduler import Scheduler, Settled


class Counter:
    """An encoder whose feature of a view is its first pixel, and which remembers what it was given."""

    def __init__(self):
        self.batches = []

    def __call__(self, units):
        self.batches.append([unit[:, 0].tolist() for unit in units])
        return [unit.astype(np.float32) for unit in units]

    @property
    def sizes(self):
        return [sum(map(len, units)) for units in self.batches]


class Image:
    """Wants views up to each of `ends` in turn; view i of image n is the number 1000 n + i."""

    def __init__(self, n, ends, alive=None):
        self.n, self.ends, self.answer = n, list(ends), None
        self.seen = []
        self.alive = alive if alive is not None else set()
        self.alive.add(n)

    @property
    def wanted(self):
        return range(len(self.seen), self.ends[0])

    def views(self, start, end):
        return np.arange(1000 * self.n + start, 1000 * self.n + end)[:, None]

    def receive(self, features, seconds):
        self.seen += features[:, 0].tolist()
        if len(self.ends) == 1:
            self.answer = self.n, [int(v) - 1000 * self.n for v in self.seen]
            self.alive.discard(self.n)
        self.ends.pop(0)


def run(images, *, batch_views, block=1, most_open=1000):
    encoder = Counter()
    answers = list(Scheduler(encoder, batch_views=batch_views, block=block).run(images, most_open=most_open))
    return encoder, answers


@settings(max_examples=200, deadline=None)
@given(
    rounds=st.lists(st.sampled_from([[8], [8, 16], [8, 16, 32], [5], [1, 3]]), max_size=12),
    batch_views=st.integers(1, 40),
    block=st.sampled_from([1, 4, 8, 100]),
    most_open=st.integers(1, 20),
)
def test_every_image_gets_all_its_views_once_and_answers_come_in_order(rounds, batch_views, block, most_open):
    _, answers = run((Image(n, ends) for n, ends in enumerate(rounds)), batch_views=batch_views, block=block)
    assert answers == [(n, list(range(ends[-1]))) for n, ends in enumerate(rounds)]


@pytest.mark.parametrize("batch_views", [1, 7, 16, 30])
def test_batches_are_full_while_there_is_work(batch_views):
    encoder, _ = run((Image(n, [20]) for n in range(9)), batch_views=batch_views)
    assert set(encoder.sizes[:-1]) == {batch_views}
    assert sum(encoder.sizes) == 180


def test_undecided_images_refill_the_batches():
    rounds = [[8, 16, 32], [8], [8], [8, 16], [8], [8], [8], [8]]
    encoder, _ = run((Image(n, ends) for n, ends in enumerate(rounds)), batch_views=16)
    images = [[values[0] // 1000 for values in units[::8]] for units in encoder.batches]
    # Image 0's second round is drawn while images 2 and 3 are encoded, then goes before the new image 4.
    assert images[:4] == [[0, 1], [2, 3], [0, 4], [3, 5]]
    assert set(encoder.sizes[:-1]) == {16}


@pytest.mark.parametrize(("n_views", "units"), [(20, [8, 8, 4]), (8, [8]), (3, [3])])
def test_blocks_are_cut_the_same_whatever_else_is_in_the_batch(n_views, units):
    for batch_views in (1, 7, 64):
        encoder, _ = run((Image(n, [n_views]) for n in range(5)), batch_views=batch_views, block=8)
        assert [len(unit) for batch in encoder.batches for unit in batch] == units * 5
        assert all(len({v // 1000 for v in unit}) == 1 for batch in encoder.batches for unit in batch)


def test_later_rounds_have_the_blocks_of_a_single_one():
    whole, _ = run([Image(0, [20])], batch_views=64, block=8)
    rounds, _ = run([Image(0, [8, 16, 20])], batch_views=64, block=8)
    flat = [unit for batch in whole.batches for unit in batch]
    assert [unit for batch in rounds.batches for unit in batch] == flat


def test_features_arrive_in_order_where_there_is_one_round():
    arrived = []

    class Noting(Image):
        def receive(self, features, seconds):
            arrived.append(self.n)
            super().receive(features, seconds)

    run((Noting(n, [n % 3 + 1]) for n in range(20)), batch_views=5)
    assert arrived == list(range(20))


def test_images_are_taken_only_when_a_batch_needs_them():
    alive, most = set(), 0

    def source():
        nonlocal most
        for n in range(100):
            yield Image(n, [8, 16, 32] if n % 10 == 0 else [8], alive)
            most = max(most, len(alive))

    _, answers = run(source(), batch_views=32)
    assert len(answers) == 100
    assert most <= 2 * 32 // 8 + 1


def test_images_without_work_are_not_taken_without_end():
    taken = []

    def source():
        yield Image(0, [8, 16])
        for n in range(1000):
            taken.append(n)
            yield Settled((n, "unreadable"))

    answers = Scheduler(Counter(), batch_views=64, block=1).run(source(), most_open=10)
    assert next(answers) == (0, list(range(16)))
    assert len(taken) <= 10


def test_settled_images_keep_their_places():
    images = [Settled("a"), Image(0, [8]), Settled("b"), Settled("c"), Image(1, [4]), Settled("d")]
    _, answers = run(images, batch_views=8)
    assert answers == ["a", (0, list(range(8))), "b", "c", (1, [0, 1, 2, 3]), "d"]
    assert run([], batch_views=8)[1] == []
    assert run([Settled("a")], batch_views=8)[1] == ["a"]


def test_time_is_shared_by_views():
    seconds = {}

    class Timed(Image):
        def receive(self, features, spent):
            seconds[self.n] = spent
            super().receive(features, spent)

    run([Timed(0, [6]), Timed(1, [2])], batch_views=8)
    assert seconds[0] == pytest.approx(3 * seconds[1])


def test_a_source_with_nothing_at_the_moment_lets_what_is_pending_go_ahead():
    encoder, answers = run([Image(0, [4]), None, Image(1, [4]), Image(2, [4]), None, None], batch_views=8)
    assert [answer[0] for answer in answers] == [0, 1, 2]
    assert encoder.sizes == [4, 8]


def test_views_of_a_task_that_was_given_up_are_not_encoded():
    first, second = Image(0, [4]), Image(1, [4, 8])

    def source():
        yield first
        yield second
        second.answer = "given up"
        yield Image(2, [4])

    encoder, answers = run(source(), batch_views=12)
    assert answers == [(0, [0, 1, 2, 3]), "given up", (2, [0, 1, 2, 3])]
    assert encoder.sizes == [8]
