"""The anchored vote in a classifier: its weight, streams, adaptive views, cascades and the exact rule."""

import pytest
from PIL import Image

from tests.classify.test_adaptive_views import LABELS, RED, Moody, numbers, striped
from viewvote import Classifier
from viewvote.methods.anchored import Anchored, weight_for

IMAGES = [*(striped(seed) for seed in range(10)), RED]


def test_the_trace_has_the_weight_and_what_it_follows_from():
    clf = Classifier("toy", labels=LABELS, method="anchored", n_views=8)
    prediction = clf(RED)
    assert prediction.label == "red"
    anchor = prediction.to_dict(trace=True)["trace"]["anchor"]
    assert anchor == {"weight": weight_for(clf.likeness), "likeness": clf.likeness}
    assert "anchor" not in Classifier("toy", labels=LABELS, method="zero", n_views=8)(RED).to_dict(trace=True)["trace"]


def test_a_given_weight_asks_for_no_likeness():
    assert Classifier("toy", labels=LABELS, method=Anchored(weight=2)).likeness is None
    assert Classifier("toy", labels=LABELS, method="zero").likeness is None


def test_other_labels_have_their_own_likeness():
    clf = Classifier("pocket", labels=["cat", "rocket", "coffee cup"], method="anchored", n_views=4)
    other = clf.with_labels([f"2012 Audi {name} sedan" for name in ("A4", "A6", "S5", "TT")])
    assert other.likeness > clf.likeness + 0.2
    assert other(Image.new("RGB", (40, 40), "gray")).trace.anchor.weight == weight_for(other.likeness)


def test_without_weight_the_answers_are_zeros():
    zero = Classifier("toy", labels=LABELS, method="zero", n_views=16)
    anchored = Classifier("toy", labels=LABELS, n_views=16, method=Anchored(weight=0))
    for image in IMAGES:
        expected, found = zero(image), anchored(image)
        assert (found.index, found.confidence, found.tie_break) == (
            expected.index,
            expected.confidence,
            expected.tie_break,
        )
        assert found.votes.tolist() == expected.votes.tolist()


@pytest.mark.parametrize("options", [{"n_views": 16}, {"n_views": "adaptive"}, {"n_views": 32, "stop": "exact"}])
def test_a_stream_gives_the_same_as_single_images(options):
    clf = Classifier("toy", labels=LABELS, method="anchored", **options)
    assert [numbers(p) for p in clf.predict_many(IMAGES, batch_views=24)] == [numbers(clf(image)) for image in IMAGES]


def test_adaptive_views_decide_on_the_views_seen():
    clf = Classifier("toy", labels=LABELS, method="anchored", n_views="adaptive")
    for image in IMAGES:
        found = clf(image)
        alone = Classifier("toy", labels=LABELS, method="anchored", n_views=found.views_used)(image)
        assert numbers(found) == numbers(alone) | {"views_used": found.views_used, "stop": found.stop}


@pytest.mark.parametrize("weight", [0, 0.3, 1, 3, 50])
@pytest.mark.parametrize("keep", [0.3, 1.0])
def test_exact_never_changes_the_answer(weight, keep):
    method = Anchored(weight=weight, keep=keep)
    full = Classifier("toy", labels=LABELS, method=method, n_views=32)
    exact = Classifier("toy", labels=LABELS, method=method, n_views=32, stop="exact")
    found = list(exact.predict_many(IMAGES))
    assert [p.index for p in found] == [p.index for p in full.predict_many(IMAGES)]
    assert all((p.views_used == 32) == (p.stop == "all views") for p in found)
    if weight >= 3:
        assert found[-1].views_used == 8  # a red picture: the source view is sure enough alone


@pytest.mark.parametrize("share", [0, 20, 50])
def test_exact_in_a_cascade_gives_the_full_answer(share):
    used = set()
    for seed in range(8):
        settings = {"labels": LABELS, "n_views": 32, "seed": seed, "method": Anchored(keep=0.75, weight=1.2)}
        expected = Classifier("toy", teacher=Moody(share), **settings)(striped(seed))
        found = Classifier("toy", teacher=Moody(share), stop="exact", **settings)(striped(seed))
        assert found.label == expected.label
        used.add(found.views_used)
    assert share or min(used) < 32


def test_in_a_cascade_the_likeness_is_the_teachers():
    cars = [f"2012 Audi {name} sedan" for name in ("A4", "A6", "S5", "TT")]
    alone = Classifier("pocket", labels=cars, method="anchored")
    assert Classifier("toy", labels=cars, method="anchored", teacher="pocket").likeness == alone.likeness > 0.2
