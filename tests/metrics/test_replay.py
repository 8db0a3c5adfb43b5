"""The stopping rule replayed on records, against the rule and the vote themselves on the logits."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest

from tests.records.record_files import draw_logits, voted_record, write_records
from viewvote.errors import UsageError
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.metrics.replay import exact_views, replay
from viewvote.stopping import Confident, Exact
from viewvote.stopping.calibrate import calibrate, joined, outcome, seed_noise
from viewvote.stopping.rules import standing
from viewvote.stopping.thresholds import LEAD, SUPPORT, SURE, choose_thresholds, falling, most_differing
from viewvote.vote import RankedViews, vote

VIEWS = 32
ROUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
REST = len(ROUNDS) - 1


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    drawn = [draw_logits(rng, views=VIEWS, classes=6, hard=float(rng.choice([1.0, 3.0, 9.0]))) for _ in range(60)]
    for i, logits in enumerate(drawn):
        logits[:, 0] += i % 4 * 3  # every fourth image is as drawn, the others are ever more one-sided
    return drawn


@pytest.fixture(scope="module")
def records(images, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "records.jsonl"
    return write_records(path, [voted_record(one, key=f"k{i}", target=i % 6) for i, one in enumerate(images)])


def settles(rule, logits):
    views = RankedViews(logits)
    return rule.settled(views.labels, views.order, sure=float(views.top_probability[0]))


def test_answers_and_shares_are_those_of_the_first_views(images, records):
    replayed = replay(records, keep=0.3)
    assert replayed.rounds == ROUNDS
    for i, logits in enumerate(images):
        assert replayed.answers[i].tolist() == [vote(logits[:n]).winner for n in ROUNDS]


@pytest.mark.parametrize(
    "thresholds",
    [
        (1.0,) * REST,
        (None, None, None, None, 0.95, 0.9, 0.8, 0.7, 0.6),
        (0.9, None, 0.9, None, 0.5, None, 0.75, 1.0, 0.5),
        (None,) * 8 + (0.5,),
        (None,) * REST,
    ],
)
def test_the_outcome_is_what_the_rule_does_image_by_image(images, records, thresholds):
    rule = Confident(ROUNDS, thresholds, 0.3)
    used, answers = [], []
    for logits in images:
        n = next((n for n in ROUNDS[:-1] if settles(rule, logits[:n])), 32)
        used.append(n)
        answers.append(vote(logits[:n]).winner)
    full = [vote(logits).winner for logits in images]
    found = outcome(replay(records), thresholds)
    assert found.views == np.mean(used)
    assert found.agreement.value == np.mean(np.equal(answers, full))
    assert found.accuracy.value == np.mean(np.equal(answers, np.arange(60) % 6))
    assert found.full_accuracy.value == np.mean(np.equal(full, np.arange(60) % 6))
    assert found.to_dict()["n"] == 60


@pytest.mark.parametrize("rate", [0.0, 1.0, float("nan"), -0.1, 1.5])
def test_a_rate_that_adaptive_views_refuse_is_not_calibrated(records, rate):
    with pytest.raises(UsageError, match="disagreement is a rate above 0 and below 1"):
        calibrate(replay(records), disagreement=rate, provenance={})


@pytest.mark.parametrize("disagreement", [0.1, 0.3])
def test_no_other_falling_thresholds_use_fewer_views_at_the_rate(records, disagreement):
    replayed = replay(records)
    chosen = calibrate(replayed, disagreement=disagreement, provenance={}).thresholds

    def cost(thresholds):
        found = outcome(replayed, thresholds)
        differing = round((1 - found.agreement.value) * 60)
        return found.views, differing <= most_differing(60, disagreement)

    views, allowed = cost(chosen)
    assert allowed
    grid = SUPPORT
    tried = {falling(ROUNDS, a, b, first=c) for a in grid.starts for b in grid.falls for c in SURE}
    costs = [cost(thresholds) for thresholds in sorted(tried, key=str)[::7]] + [cost(chosen)]
    assert views == min(used for used, allowed in costs if allowed)
    assert len({used for used, _ in costs}) > 5


def chosen_at(replayed, rate):
    """The thresholds of the fewest views among those that differ so seldom, by the definition."""
    most, full = most_differing(len(replayed.keys), rate), replayed.answers[:, -1]

    def allowed(ended):
        return (replayed.answers[np.arange(len(ended)), ended] != full).sum() <= most

    return choose_thresholds(replayed.support, replayed.answers, ROUNDS, allowed)


def test_each_half_measures_what_the_other_chooses(records):
    replayed = replay(records, keep=0.5)
    found = calibrate(replayed, disagreement=0.2, provenance={"set": "drawn"})
    assert (found.budget, found.keep, found.rounds) == (32, 0.5, ROUNDS)
    assert found.provenance == {"set": "drawn"}
    assert found.thresholds == chosen_at(replayed, 0.2)
    assert found.fit == outcome(replayed, found.thresholds).to_dict()
    first = np.array([blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in replayed.keys])
    assert 15 <= first.sum() <= 45
    views = same = 0.0
    for half in (first, ~first):
        other = replayed.take(half)
        measured = outcome(replayed.take(~half), chosen_at(other, 0.2))
        views += measured.views * (~half).sum() / 60
        same += measured.agreement.value * (~half).sum() / 60
    assert found.held_back["n"] == 60
    assert found.held_back["views_used"] == pytest.approx(views, abs=0.006)
    assert found.held_back["agreement"] == pytest.approx(same, abs=1e-5)
    assert found == calibrate(replayed, disagreement=0.2, provenance={"set": "drawn"})


def test_too_few_in_one_half_is_an_error(records):
    replayed = replay(records)
    first = [blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in replayed.keys]
    with pytest.raises(UsageError, match="0 records cannot show"):
        calibrate(replayed.take(np.array(first)), disagreement=0.3, provenance={})


def test_runs_are_joined_and_must_have_the_same_views(records, images, tmp_path):
    twice = joined([replay(records), replay(records)])
    assert len(twice.keys) == 120
    short = write_records(tmp_path / "short.jsonl", [voted_record(images[0][:16])])
    with pytest.raises(UsageError, match=r"different numbers of views: \[16, 32\]"):
        joined([replay(records), replay(short)])
    assert replay(records, budget=16).rounds == (1, 2, 3, 4, 6, 8, 16)
    with pytest.raises(UsageError, match="needs all 64 views"):
        replay(records, budget=64)


def test_records_of_early_stops_cascades_and_nothing_are_refused(images, tmp_path):
    mixed = write_records(tmp_path / "mixed.jsonl", [voted_record(images[0]), voted_record(images[1][:8], key="b")])
    with pytest.raises(UsageError, match="a replay needs all"):
        replay(mixed)
    cascade = write_records(tmp_path / "cascade.jsonl", [voted_record(images[0], teacher=images[1])])
    with pytest.raises(UsageError, match="calibrate on a run of its student"):
        replay(cascade)
    empty = write_records(tmp_path / "empty.jsonl", [])
    with pytest.raises(UsageError, match="holds no usable record"):
        replay(empty)


def test_the_views_of_the_exact_rule_are_counted(images, records):
    rule = Exact(VIEWS, 1.0)
    used = [next((n for n in rule.rounds if settles(rule, logits[:n])), VIEWS) for logits in images]
    assert min(used) < VIEWS
    assert exact_views(records, keep=1.0) == np.mean(used)


def test_the_anchored_vote_is_replayed_with_its_own_lead(images, records):
    replayed = replay(records, keep=0.3, weight=2.0)
    assert replayed.vote == "anchored"
    for i, logits in enumerate(images[:20]):
        for n, answer, found in zip(ROUNDS, replayed.answers[i], replayed.support[i], strict=True):
            views = ViewLogits(logits[:n])
            method = Anchored(keep=0.3, weight=2.0)
            assert answer == method.decide(views).index
            say = method.say(views)
            sure = float(views.top_probability[0])
            expected = standing(views.labels, views.order, keep=0.3, say=say, sure=sure)
            assert found == pytest.approx(expected, abs=1e-6)


def test_thresholds_of_the_anchored_vote_are_of_leads(records):
    found = calibrate(replay(records, weight=1.0), disagreement=0.2, provenance={}, model="pocket")
    assert (found.vote, found.model, found.level) == ("anchored", "pocket", None)
    tried = {falling(ROUNDS, a, b, first=c, grid=LEAD) for a in LEAD.starts for b in LEAD.falls for c in SURE}
    assert found.thresholds in tried


def answers_of(replayed, changed):
    """The replay with another full answer for the first `changed` records."""
    answers = replayed.answers.copy()
    answers[:changed, -1] = (answers[:changed, -1] + 1) % 6
    return replace(replayed, answers=answers)


def test_noise_is_how_often_the_full_answers_of_two_seeds_differ(records):
    one = replay(records)
    rate = seed_noise([one, answers_of(one, 3)])
    assert (rate.value, rate.n) == (3 / 60, 60)
    three = seed_noise([one, answers_of(one, 3), answers_of(one, 6)])  # 3, 6 and 3 of 60 each
    assert (three.value, three.n) == (12 / 180, 180)
    with pytest.raises(UsageError, match="two runs of the same images with other seeds"):
        seed_noise([one])


def test_noise_accepts_as_many_differing_answers_and_half_a_point_of_accuracy(records):
    replayed = replay(records)
    found = calibrate(replayed, disagreement=0.1, provenance={}, level="noise")
    strict = calibrate(replayed, disagreement=0.1, provenance={})
    assert found.level == "noise"
    assert found.fit["agreement"] >= 0.9
    assert found.fit["full_accuracy"] - found.fit["accuracy"] <= 0.005
    assert found.fit["views_used"] <= strict.fit["views_used"]
