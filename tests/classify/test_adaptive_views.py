"""As many views as an image needs: the rounds of a classifier, alone, in streams and in cascades."""

import json
import zlib

import numpy as np
import pytest
from PIL import Image

from tests.conftest import Contrary
from viewvote import Classifier, ToyEncoder
from viewvote.classify import prefetch
from viewvote.errors import NonFiniteError, UsageError
from viewvote.methods.zero import Zero
from viewvote.stopping import Adaptive
from viewvote.stopping.adaptive import Calibration
from viewvote.views.draw import Drawing
from viewvote.views.sample import Sample

LABELS = ["red", "green", "blue"]
RED = Image.new("RGB", (40, 30), (250, 0, 0))


def striped(seed=0, *, size=(120, 90)):
    """Vertical stripes of red and green of random widths: its views disagree."""
    rng = np.random.default_rng(seed)
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    left = 0
    while left < size[0]:
        right = left + int(rng.integers(5, 30))
        pixels[:, left:right, rng.integers(0, 2)] = 250
        left = right
    return Image.fromarray(pixels)


@pytest.fixture
def adaptive(tmp_path):
    """A rule for 32 views, of which half are kept, with thresholds that toy pictures meet at different rounds."""
    path = tmp_path / "stop.json"
    rows = [Calibration(32, 0.5, 0.01, (8, 16, 32), (0.85, 0.75)).to_dict()]
    path.write_text(json.dumps({"calibrations": rows}))
    return Adaptive(budget=32, calibration=path)


@pytest.fixture
def clf(adaptive):
    return Classifier("toy", method="zero", labels=LABELS, n_views=adaptive, keep=0.5)


def numbers(prediction):
    out = prediction.to_dict(trace=True)
    return {key: value for key, value in out.items() if key not in ("timings", "path")}


def test_a_sure_source_view_ends_it_alone():
    prediction = Classifier("toy", labels=LABELS)(RED)
    assert (prediction.label, prediction.method, prediction.stop) == ("red", "anchored", "confident")
    assert (prediction.views_used, len(prediction.trace.views), prediction.votes.sum()) == (1, 1, 1)
    assert prediction.to_dict()["views_used"] == 1
    assert prediction.to_dict()["stop"] == "confident"


def test_without_a_rule_all_views_are_used_and_no_reason_is_given():
    prediction = Classifier("toy", method="zero", labels=LABELS, n_views=5)(RED)
    assert (prediction.views_used, prediction.stop) == (5, None)
    assert Classifier("toy", labels=LABELS, method="zero-shot")(RED).views_used == 1


def test_the_answer_is_that_of_the_views_seen_and_they_are_the_first_of_the_full_run(clf):
    full = Classifier("toy", method="zero", labels=LABELS, n_views=32, keep=0.5)
    used = set()
    for seed in range(12):
        prediction = clf(striped(seed))
        seen = prediction.views_used
        used.add((seen, prediction.stop))
        alone = Classifier("toy", method="zero", labels=LABELS, n_views=seen, keep=0.5)(striped(seed))
        expected = numbers(alone) | {"views_used": seen, "stop": prediction.stop}
        assert numbers(prediction) == expected
        whole = full(striped(seed)).trace.views[:seen]
        assert [(v.box, v.entropy) for v in whole] == [(v.box, v.entropy) for v in prediction.trace.views]
    assert used == {(8, "confident"), (16, "confident"), (32, "all views")}


@pytest.mark.parametrize("batch_views", [1, 8, 20, 64, 1000])
def test_a_stream_gives_the_same_in_order(clf, batch_views):
    images = [striped(seed) for seed in range(12)]
    many = list(clf.predict_many(iter(images), batch_views=batch_views))
    assert [numbers(p) for p in many] == [numbers(clf(image)) for image in images]


def test_a_stream_of_large_photos_gives_the_same_and_holds_few_of_them_at_a_time(adaptive, monkeypatch):
    samples, held = [], []

    class Watched(Sample):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            samples.append(self)

    class Noting(ToyEncoder):
        def encode_images(self, views):
            held.append(sum(sample.held_pixels > 0 for sample in samples))
            return super().encode_images(views)

    pictures = [striped(seed) for seed in range(24)]
    clf = Classifier(Noting(), method="zero", labels=LABELS, n_views=adaptive, keep=0.5)
    one_by_one = [numbers(clf(picture)) for picture in pictures]
    held.clear()
    monkeypatch.setattr(prefetch, "MOST_HELD", 2 * 120 * 90)
    monkeypatch.setattr("viewvote.views.sample.Sample", Watched)
    assert [numbers(one) for one in clf.predict_many(pictures, batch_views=256)] == one_by_one
    assert 0 < max(held) < 12
    assert all(sample.held_pixels == 0 for sample in samples)


def test_the_encoder_sees_full_batches_while_images_differ_in_their_rounds(adaptive):
    sizes = []

    class Counting(ToyEncoder):
        def encode_images(self, views):
            sizes.append(len(views))
            return super().encode_images(views)

    clf = Classifier(Counting(), method="zero", labels=LABELS, n_views=adaptive, keep=0.5)
    used = [p.views_used for p in clf.predict_many((striped(seed) for seed in range(30)), batch_views=24)]
    assert len(set(used)) == 3
    assert sum(sizes) == sum(used)
    assert all(size == 24 for size in sizes[:-4])  # the last images have no one to fill up with


def test_the_first_looks_of_a_stream_share_calls_across_images():
    calls = []

    class Noting(ToyEncoder):
        def encode_images(self, views):
            calls.append(views.copy())
            return super().encode_images(views)

    images = [striped(seed) for seed in range(40)]
    clf = Classifier(Noting(), labels=LABELS)  # as it comes: the first round is the source view alone
    list(clf.predict_many(images))
    sources = []
    for image in images[:32]:
        calls_before = len(calls)
        clf(image)
        sources.append(calls[calls_before][0])
    assert len(calls[0]) == 32
    assert {view.tobytes() for view in calls[0]} == {view.tobytes() for view in sources}


def test_only_the_views_that_are_looked_at_are_drawn(clf, monkeypatch):
    drawn = []
    original = Drawing._draw

    def draw(self, i):
        drawn.append(i)
        original(self, i)

    monkeypatch.setattr(Drawing, "_draw", draw)
    used = [p.views_used for p in clf.predict_many([RED, *(striped(seed) for seed in range(6))])]
    assert len(drawn) == sum(used) < 7 * 32


def test_exact_leaves_out_views_and_never_changes_the_answer():
    images = [striped(seed) for seed in range(12)] + [RED]
    exact = Classifier("toy", method="zero", labels=LABELS, n_views=32, keep=1.0, stop="exact")
    full = Classifier("toy", method="zero", labels=LABELS, n_views=32, keep=1.0)
    found = list(exact.predict_many(images, batch_views=16))
    assert [p.index for p in found] == [p.index for p in full.predict_many(images)]
    assert found[-1].views_used == 24  # 17 unanimous of 32 settle it; it looks every 8
    assert {p.stop for p in found} == {"exact", "all views"}
    assert all((p.views_used == 32) == (p.stop == "all views") for p in found)


def test_exact_with_adaptive_views_has_the_default_budget():
    assert Classifier("toy", method="zero", labels=LABELS, n_views="adaptive", stop="exact")(RED).views_used == 56


def test_in_a_cascade_the_teacher_sees_what_is_kept_where_the_students_votes_settle_it(adaptive):
    teacher = Contrary()
    prediction = Classifier("toy", method="zero", labels=LABELS, n_views=adaptive, keep=0.5, teacher=teacher)(RED)
    # Of 8 views 4 are kept: (1 + 1 + 1/2) / 3 = 0.83 are for green where the student saw red, and 0.85 is asked for.
    assert (prediction.label, prediction.views_used, prediction.stop) == ("green", 16, "confident")
    assert teacher.seen[0] == (4, 8, 8, 3)
    assert sum(shape[0] for shape in teacher.seen) <= 4 + 8


class Moody(ToyEncoder):
    """A teacher that calls some views green, by their pixels, and notes which it was shown."""

    model_id = fingerprint = "moody"

    def __init__(self, share):
        super().__init__()
        self.share, self.seen = share, []

    def encode_images(self, views):
        sums = [zlib.crc32(view.tobytes()) for view in views]
        self.seen.extend(sums)
        return np.eye(3, dtype=np.float32)[[int(s % 100 < self.share) for s in sums]]


def reds(seed):
    """Noise of which every crop is red, and none is like another."""
    pixels = np.random.default_rng(seed).integers(0, 250, (90, 120, 3)) * np.array([1, 0.4, 0.4])
    return Image.fromarray(pixels.astype(np.uint8))


def test_a_teacher_whose_votes_do_not_settle_it_is_shown_more_views(adaptive):
    settings = {"labels": LABELS, "n_views": adaptive, "keep": 0.5}
    photo = reds(0)
    student = Classifier("toy", method="zero", **settings)(photo)
    assert (student.views_used, student.stop) == (8, "confident")
    for share, (used, stop) in {0: (8, "confident"), 50: (32, "all views")}.items():
        teacher = Moody(share)
        found = Classifier("toy", method="zero", teacher=teacher, **settings)(photo)
        assert (found.views_used, found.stop) == (used, stop)
        assert len(set(teacher.seen)) == len(teacher.seen)  # none is asked about twice


def test_what_a_teacher_was_asked_in_earlier_rounds_alone_is_no_evidence(adaptive):
    more = 0
    for seed in range(8):
        teacher = Moody(50)
        settings = {"labels": LABELS, "n_views": adaptive, "keep": 0.5, "evidence": True}
        found = Classifier("toy", method="zero", teacher=teacher, **settings)(reds(seed))
        heard = found.trace.evidence.teacher_labels >= 0
        assert heard.tolist() == found.trace.views.kept.tolist()
        more += len(teacher.seen) > heard.sum()
    assert more


@pytest.mark.parametrize(("sure", "used"), [(0.7, 32), (0.9, 1)])
def test_after_one_view_the_teacher_must_be_as_sure_as_the_rule_asks(sure, used, tmp_path):
    path = tmp_path / "stop.json"
    rows = [Calibration(32, 0.5, 0.01, (1, 32), (0.8,)).to_dict()]
    path.write_text(json.dumps({"calibrations": rows}))
    teacher = Sure(sure)
    clf = Classifier(
        "toy", method="zero", labels=LABELS, n_views=Adaptive(budget=32, calibration=path), keep=0.5, teacher=teacher
    )
    assert clf(RED).views_used == used


class Sure(ToyEncoder):
    """A teacher that gives the first label this probability, whatever it sees."""

    def __init__(self, sure):
        super().__init__()
        self.sure = sure

    def encode_images(self, views):
        ahead = np.log(2 * self.sure / (1 - self.sure)) / self.logit_scale  # of two equal rivals
        rival = (-ahead + np.sqrt(3 - 2 * ahead**2)) / 3  # where the three are a unit feature
        return np.tile(np.array([rival + ahead, rival, rival], dtype=np.float32), (len(views), 1))


@pytest.mark.parametrize(("share", "reasons"), [(0, {"exact"}), (20, {"exact", "all views"}), (50, {"all views"})])
def test_exact_in_a_cascade_gives_the_full_answer_and_asks_of_no_more_views(share, reasons):
    stops = set()
    for seed in range(12):
        full, exact = Moody(share), Moody(share)
        settings = {
            "method": "zero",
            "labels": LABELS,
            "n_views": 32,
            "keep": 0.75,
            "seed": seed,
        }  # keeps 24, so it may stop at 24 views
        expected = Classifier("toy", teacher=full, **settings)(striped(seed))
        found = Classifier("toy", teacher=exact, stop="exact", **settings)(striped(seed))
        assert found.label == expected.label
        assert len(exact.seen) == 18 if found.stop == "exact" else sorted(exact.seen) == sorted(full.seen)
        assert found.views_used == {"exact": 24, "all views": 32}[found.stop]
        stops.add(found.stop)
    assert stops == reasons


def test_templates_and_soft_votes_work_too():
    clf = Classifier("toy", labels=LABELS, n_views="adaptive", templates="ensemble", method=Zero(compat="paper"))
    assert clf(RED).views_used == 1


@pytest.mark.parametrize("method", ["zero-shot", "marginal", "mean-logits", "mta", "tda"])
def test_methods_that_do_not_vote_refuse(method):
    for options in ({"n_views": "adaptive"}, {"n_views": Adaptive()}, {"stop": "exact"}):
        with pytest.raises(UsageError, match=f"method '{method}' does not vote"):
            Classifier("toy", labels=LABELS, method=method, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": "exakt"}, "Did you mean 'exact'"),
        ({"n_views": "many"}, "or \"adaptive\"; got 'many'"),
        ({"n_views": Adaptive(), "stop": "exact"}, "two different rules"),
        (
            {"n_views": "adaptive", "keep": 0.123},
            r"no thresholds are calibrated for method zero with 64 views, keep 0\.123",
        ),
        ({"stop": "exact", "method": Zero(zero_temperature="eps-fp16")}, "counts whole votes"),
        ({"stop": "exact", "method": Zero(compat="paper")}, "counts whole votes"),
    ],
)
def test_wrong_arguments_are_errors(options, message):
    with pytest.raises(UsageError, match=message):
        Classifier("toy", **{"method": "zero"} | options, labels=LABELS)


def test_other_labels_keep_the_rule(clf):
    other = clf.with_labels(["yellow", "red"])
    assert other.rule == clf.rule
    assert other(RED).views_used == 8
    exact = Classifier("toy", method="zero", labels=LABELS, n_views=32, keep=1.0, stop="exact").with_labels(
        ["red", "blue"]
    )
    assert exact(RED).stop == "exact"


def test_an_encoder_that_says_nothing_of_blocks_sees_one_image_at_a_time(adaptive):
    seen = []

    class Silent(ToyEncoder):
        block_views = None

        def encode_images(self, views):
            seen.append(len(views))
            return super().encode_images(views)

    images = [RED, striped(0), RED]
    known = Classifier("toy", method="zero", labels=LABELS, n_views=adaptive, keep=0.5)
    silent = Classifier(Silent(), method="zero", labels=LABELS, n_views=adaptive, keep=0.5)
    assert [numbers(p) for p in silent.predict_many(images)] == [numbers(p) for p in known.predict_many(images)]
    assert set(seen) <= {8, 16}


def test_broken_features_of_a_later_round_fail_that_image_alone(adaptive):
    class SickLater(ToyEncoder):
        block_views = None

        def encode_images(self, views):
            features = super().encode_images(views)
            return features * np.float32(np.nan) if len(views) == 16 else features

    clf = Classifier(SickLater(), method="zero", labels=LABELS, n_views=adaptive, keep=0.5)
    hard = next(striped(s) for s in range(12) if _views_used(adaptive, striped(s)) == 32)
    results = list(clf.predict_many([RED, hard, RED], on_error="return"))
    assert [isinstance(r, NonFiniteError) for r in results] == [False, True, False]


def _views_used(adaptive, image):
    return Classifier("toy", method="zero", labels=LABELS, n_views=adaptive, keep=0.5)(image).views_used
