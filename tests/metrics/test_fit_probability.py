"""The fit of a probability: recovered where it is known, against a naive blend, and honest about what it measured."""

from dataclasses import replace

import numpy as np
import pytest

from tests.records.record_files import draw_logits, plain_record, voted_record, write_records
from viewvote.errors import UsageError
from viewvote.metrics.fit_probability import BLENDS, Answers, fit_probability, held_back, joined, measured, read_answers
from viewvote.probability import ProbabilityFit, led_by
from viewvote.vote import log_softmax


def drawn(n=4000, *, slope=0.6, offset=-0.4, seed=0):
    """Answers that are right as often as a known fit of one blend says; the other blends are noise."""
    rng = np.random.default_rng(seed)
    probability = rng.uniform(0.05, 0.98, n)
    true = ProbabilityFit(slope=slope, offset=offset)
    right = rng.random(n) < [true.apply(float(value)) for value in probability]
    blended = {source: rng.uniform(0.05, 0.98, n) for source in BLENDS} | {0.3: probability}
    return Answers(tuple(f"k{i}" for i in range(n)), right, probability.astype(np.float32), blended)


def test_a_known_fit_is_found_again():
    fit = fit_probability(drawn())
    assert fit.source == 0.3
    assert fit.slope == pytest.approx(0.6, abs=0.1)
    assert fit.offset == pytest.approx(-0.4, abs=0.1)
    assert fit.most < 1


def test_the_fit_of_the_other_half_makes_the_probabilities_that_are_reported():
    answers = drawn()
    before, after = measured(answers, answers.before.astype(float)), measured(answers, held_back(answers))
    assert after["ece"] < 0.03 < before["ece"]
    assert after["n"] == len(answers.keys)
    assert after["accuracy"] == pytest.approx(answers.right.mean(), abs=1e-5)


def test_few_records_are_refused():
    with pytest.raises(UsageError, match="49 records are too few"):
        fit_probability(drawn(49))
    with pytest.raises(UsageError, match="holds no usable record"):
        joined([], where="nothing")


def test_blends_of_records_are_those_of_all_logits_where_all_classes_are_candidates(tmp_path):
    rng = np.random.default_rng(3)
    logits = [draw_logits(rng, views=8, classes=4) for _ in range(20)]
    records = [voted_record(one, key=f"k{i}", keep=0.5) for i, one in enumerate(logits)]
    answers = read_answers(write_records(tmp_path / "records.jsonl", records), votes=True)
    for i, (one, record) in enumerate(zip(logits, records, strict=True)):
        if len(record.candidates) < 4:
            continue
        probabilities = np.exp(log_softmax(one)).astype(float)
        kept = probabilities[record.views.kept].mean(axis=0)
        assert record.views.kept.sum() == 4
        for source, part in ((0.0, 0.2), (0.5, 0.6), (1.0, 1.0)):  # four kept views: 1 - (1 - source) * 4 / 5
            blend = led_by(part * probabilities[0] + (1 - part) * kept, record.index)
            assert answers.blended[source][i] == pytest.approx(blend[record.index], abs=2e-3)


def test_methods_without_votes_have_one_blend(tmp_path):
    records = [plain_record(f"k{i}", target=0, index=i % 2, confidence=0.7, probability=0.6) for i in range(10)]
    answers = read_answers(write_records(tmp_path / "records.jsonl", records), votes=False)
    assert list(answers.blended) == [ProbabilityFit().source]
    assert answers.blended[0.5].tolist() == pytest.approx([0.7] * 10)
    assert answers.right.tolist() == [True, False] * 5


def test_records_that_do_not_hold_what_is_needed_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    cascade = voted_record(draw_logits(rng, views=8), teacher=draw_logits(rng, views=8))
    with pytest.raises(UsageError, match="is of a cascade"):
        read_answers(write_records(tmp_path / "cascade.jsonl", [cascade]), votes=True)
    record = voted_record(draw_logits(rng, views=8))
    bare = replace(record, candidates=(), logits="")
    with pytest.raises(UsageError, match="without evidence"):
        read_answers(write_records(tmp_path / "bare.jsonl", [bare]), votes=True)
