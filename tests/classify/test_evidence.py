"""What is kept of the logits decides any vote: by hand, and against the vote over all classes."""

import numpy as np
import pytest

from tests.conftest import draw_photo
from viewvote import Classifier
from viewvote.classify.evidence import gather_evidence
from viewvote.errors import UsageError
from viewvote.views.sample import Keyed
from viewvote.vote import RankedViews, break_tie, vote

RNG = np.random.default_rng(5)


def draw_logits(views=24, classes=40, spread=3.0):
    return (RNG.normal(size=(views, classes)) * spread + 4 * np.eye(classes)[RNG.integers(0, 6, views)]).astype("f4")


def test_candidates_are_the_labels_of_all_views_and_the_top_five_of_the_source():
    logits = np.zeros((3, 9), np.float32)
    logits[0] = [9, 8, 7, 6, 5, 0, 0, 0, 0]
    logits[1, 7] = logits[2, 6] = 3
    evidence = gather_evidence(RankedViews(logits), tie_draw=0.25)
    assert evidence.candidates.tolist() == [0, 1, 2, 3, 4, 6, 7]
    assert evidence.logits.tolist() == logits[:, [0, 1, 2, 3, 4, 6, 7]].tolist()
    assert evidence.source_top.tolist() == [0, 1, 2, 3, 4]
    assert evidence.student_labels.tolist() == [0, 7, 6]
    exps = np.exp(np.array([9, 8, 7, 6, 5, 0, 0, 0, 0], float))
    assert evidence.source_probability == pytest.approx(exps[0] / exps.sum(), rel=1e-6)
    assert evidence.teacher_labels is None
    assert evidence.tie_draw == 0.25


def naive_group_entropy(logits, rule):
    p = np.exp(logits.astype(float) - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    together = p.mean(axis=0) if rule == "group-marginal" else None
    if together is None:
        mean = logits.astype(float).mean(axis=0)
        together = np.exp(mean - mean.max()) / np.exp(mean - mean.max()).sum()
    return -(together * np.log(together)).sum()


def test_group_entropies_are_those_of_the_views_of_one_label_up_to_each_rank():
    for _ in range(20):
        logits = draw_logits()
        ballot, evidence = vote(logits), gather_evidence(RankedViews(logits), tie_draw=0.0)
        for rank, view in enumerate(ballot.order):
            mates = [v for v in ballot.order[: rank + 1] if ballot.views.labels[v] == ballot.views.labels[view]]
            assert evidence.group_marginal[view] == pytest.approx(
                naive_group_entropy(logits[mates], "group-marginal"), abs=1e-4
            )
            assert evidence.group_logits[view] == pytest.approx(
                naive_group_entropy(logits[mates], "group-logits"), abs=1e-4
            )


@pytest.mark.parametrize("rule", ["group-marginal", "group-logits"])
def test_the_last_kept_view_of_each_tied_class_decides_the_group_rules(rule):
    ties = 0
    for _ in range(300):
        logits = draw_logits(views=12, classes=8, spread=1.5)
        evidence = gather_evidence(RankedViews(logits), tie_draw=0.0)
        score = evidence.group_marginal if rule == "group-marginal" else evidence.group_logits
        for keep in (0.2, 0.5, 1.0):
            ballot = vote(logits, keep=keep)
            tied = np.flatnonzero(ballot.votes == ballot.votes.max())
            if len(tied) == 1:
                continue
            ties += 1
            kept = ballot.order[: ballot.k]
            last = {c: [v for v in kept if ballot.views.labels[v] == c][-1] for c in tied}
            expected, _ = break_tie(tied, logits, ballot.views.labels, ballot.order, k=ballot.k, rule=rule)
            assert min(tied, key=lambda c: score[last[c]]) == expected
    assert ties > 100


def test_in_a_cascade_the_kept_rows_are_the_teachers():
    student, teacher = draw_logits(), draw_logits()
    kept = vote(student).order[:7]
    evidence = gather_evidence(
        RankedViews(student), tie_draw=0.0, teacher=dict(zip(kept.tolist(), teacher[kept], strict=True))
    )
    assert evidence.teacher_labels[kept].tolist() == teacher[kept].argmax(axis=1).tolist()
    assert (np.delete(evidence.teacher_labels, kept) == -1).all()
    assert evidence.student_labels.tolist() == student.argmax(axis=1).tolist()
    assert (evidence.logits[kept] == teacher[kept][:, evidence.candidates]).all()
    others = np.setdiff1d(np.arange(len(student)), kept)
    assert (evidence.logits[others] == student[others][:, evidence.candidates]).all()


def test_a_classifier_gathers_it_when_asked_and_never_writes_it_out():
    photo = draw_photo(60, 45)
    plain = Classifier("toy", labels=["red", "green", "blue"], n_views=8)(photo)
    asked = Classifier("toy", labels=["red", "green", "blue"], n_views=8, evidence=True)(photo)
    assert plain.trace.evidence is None
    assert asked.trace.evidence.logits.shape == (8, 3)
    assert asked.trace.evidence.student_labels.tolist() == [
        ["red", "green", "blue"].index(view.label) for view in asked.trace.views
    ]
    assert plain.to_dict(trace=True)["trace"] == asked.to_dict(trace=True)["trace"]


def test_a_cascade_hands_on_what_the_teacher_said():
    prediction = Classifier("toy", labels=["red", "green"], method="zero", n_views=8, teacher="toy", evidence=True)(
        draw_photo(60, 45)
    )
    asked = prediction.trace.evidence.teacher_labels
    assert np.flatnonzero(asked >= 0).tolist() == list(prediction.kept)


def test_views_of_a_keyed_image_depend_on_dataset_and_key():
    clf = Classifier("toy", labels=["red", "green"], n_views=6)
    photo = draw_photo(60, 45)

    def boxes(image):
        return [view.box for view in clf(image).trace.views]

    assert boxes(Keyed(photo, "a.jpg", "pets")) == boxes(Keyed(photo, "a.jpg", "pets"))
    assert boxes(Keyed(photo, "a.jpg", "pets")) != boxes(Keyed(photo, "b.jpg", "pets"))
    assert boxes(Keyed(photo, "a.jpg", "pets")) != boxes(Keyed(photo, "a.jpg", "cars"))
    assert boxes(Keyed(photo, None)) == boxes(photo)
    many = list(clf.predict_many([Keyed(photo, "a.jpg", "pets"), photo]))
    assert [view.box for view in many[0].trace.views] == boxes(Keyed(photo, "a.jpg", "pets"))


def test_labels_may_repeat_only_when_allowed():
    with pytest.raises(UsageError, match="given twice"):
        Classifier("toy", labels=["red", "red"])
    clf = Classifier("toy", labels=["red", "red", "blue"], unique_labels=False, n_views=4)
    assert set(clf(draw_photo(60, 45)).to_dict()["scores"]) == {"red", "red#1", "blue"}
    assert clf.with_labels(["red", "red"]).labels == ("red", "red")
