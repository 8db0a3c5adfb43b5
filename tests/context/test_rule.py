"""The rule for the mix, and the advice: full for a varied folder, nothing for a uniform one, said in one line."""

import numpy as np
import pytest

from tests.context.test_pull import folder
from viewvote.context.advice import advice_of
from viewvote.context.mix import expected_labels, variety
from viewvote.context.pull import level_pull, mean_pull, softmax, transport_pull
from viewvote.context.rule import (
    BALANCED,
    DOUBT,
    FULL,
    LEAST_PHOTOS,
    MEAN_SHARE,
    REST,
    SHARE,
    UNEVEN,
    UNIFORM,
    estimate,
)
from viewvote.errors import UsageError

BIAS = [1.2, 0, 0, 0, 0]


def photos(counts, **settings):
    return folder(counts, bias=BIAS, **settings).astype(np.float32)


def offsets_of(logits, *, used, rest):
    """Half of the pull by levels, and a part of what then parts the folder from a balanced one."""
    rows = logits.astype(np.float64)
    pull = SHARE * level_pull(rows)
    left = transport_pull(rows - pull, np.ones(rows.shape[1]))
    n, n_labels = rows.shape
    return n / (n + DOUBT * n_labels) * (used * pull + rest * REST * left)


@pytest.mark.parametrize("each", [4, 30, 300])
def test_a_varied_folder_loses_the_more_of_its_pull_the_more_photos_it_has(each):
    logits = photos([each] * 5, sure=6.0)
    found = estimate(logits)
    rest = min(1, (variety(logits) - UNEVEN) / (BALANCED - UNEVEN))
    assert rest > 0.9
    assert found.note is None
    assert found.share == pytest.approx(SHARE * each / (each + DOUBT))
    assert found.offsets == pytest.approx(offsets_of(logits, used=1, rest=rest), abs=1e-5)
    assert found.offsets.argmax() == 0


def test_a_folder_that_one_label_fills_loses_nothing_and_the_note_names_how_many_do():
    found = estimate(photos([0, 60, 0, 0, 0], sure=6.0))
    assert not found.offsets.any()
    assert (found.n, found.share) == (60, 0)
    assert found.note == "context: 1 of 5 labels fill this folder; not used"


def test_between_both_the_share_grows_evenly_with_the_variety():
    logits = photos([4, 60, 10, 6, 4], sure=6.0)
    found = estimate(logits)
    varied = variety(logits)
    assert UNIFORM < varied < FULL
    used = (varied - UNIFORM) / (FULL - UNIFORM)
    assert found.share == pytest.approx(SHARE * used * 84 / (84 + 5 * DOUBT))
    assert found.offsets == pytest.approx(offsets_of(logits, used=used, rest=0), abs=1e-5)
    assert found.effective == pytest.approx(expected_labels(84, 5) ** varied)
    assert found.note == f"context: {found.effective:.0f} of 5 labels fill this folder; {used:.0%} of it used"


def test_the_rest_is_taken_off_as_far_as_the_folder_is_balanced():
    logits = photos([10, 40, 16, 16, 10], sure=6.0)
    varied = variety(logits)
    assert UNEVEN < varied < BALANCED
    found = estimate(logits)
    rest = (varied - UNEVEN) / (BALANCED - UNEVEN)
    assert found.offsets == pytest.approx(offsets_of(logits, used=1, rest=rest), abs=1e-5)
    assert found.note is None


def test_an_unsure_model_that_sees_one_label_takes_off_nothing_though_all_labels_seem_to_be_there():
    logits = photos([120, 0, 0, 0, 0], sure=1.5)
    assert softmax(logits.astype(np.float64)).mean(axis=0).min() > 0.05
    assert not estimate(logits).offsets.any()


@pytest.mark.parametrize("n", [0, 1, LEAST_PHOTOS - 1])
def test_few_photos_show_nothing(n):
    found = estimate(np.zeros((n, 5), dtype=np.float32))
    assert not found.offsets.any()
    assert found.note == f"context: {n} photos are too few; {LEAST_PHOTOS} are needed; not used"


def test_one_label_has_no_rival_to_lose_to():
    assert estimate(np.zeros((50, 1), dtype=np.float32)).note == "context: there is one label only; not used"


def test_a_user_who_knows_that_the_folder_is_varied_gets_the_plain_mean():
    logits = photos([0, 60, 0, 0, 0], sure=6.0)
    found = estimate(logits, mix="varied")
    assert found.offsets == pytest.approx(MEAN_SHARE * mean_pull(logits.astype(np.float64)), abs=1e-4)
    assert (found.estimator, found.note) == ("mean", None)


def test_a_mix_that_is_known_becomes_the_mean_of_the_probabilities():
    logits = photos([10, 60, 20, 5, 5])
    found = estimate(logits, mix=[10, 60, 20, 5, 5])
    assert softmax(logits - found.offsets.astype(np.float64)).mean(axis=0) == pytest.approx(
        [0.1, 0.6, 0.2, 0.05, 0.05], abs=1e-3
    )
    assert found.estimator == "transport"


@pytest.mark.parametrize("mix", ["even", [1, 1], [1, 1, 1, 1, -1], [0] * 5, [float("nan"), 1, 1, 1, 1]])
def test_other_mixes_are_refused(mix):
    with pytest.raises(UsageError, match="mix"):
        estimate(photos([30] * 5), mix=mix)


def test_advice_names_the_label_that_attracts_and_how_many_photos():
    logits = photos([30] * 5)
    after = (logits - estimate(logits).offsets).argmax(axis=1)
    first, left = int((logits.argmax(axis=1) == 0).sum()), int((after == 0).sum())
    assert advice_of(logits, list("abcde")) == (
        f"'a' attracts these photos: it is the best label of {first} of 150, and of {left} where that is taken off; "
        "--context self may help."
    )


@pytest.mark.parametrize(
    "logits",
    [
        photos([3] * 5),
        photos([0, 60, 0, 0, 0], sure=6.0),
        folder([30] * 5, bias=[0] * 5, sure=6.0).astype(np.float32),
        np.zeros((0, 5), dtype=np.float32),
    ],
    ids=["few photos", "one label", "no pull", "none"],
)
def test_without_a_strong_pull_there_is_no_advice(logits):
    assert advice_of(logits, list("abcde")) is None
