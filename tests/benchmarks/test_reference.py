"""The yardstick of the benchmark decides as viewvote does, or its ratios would compare different work."""

import io

import numpy as np
import pytest

from tests.conftest import draw_photo

torch = pytest.importorskip("torch")

from benchmarks.reference import Reference, decide  # noqa: E402
from viewvote.images.spec import ImageSpec  # noqa: E402
from viewvote.methods.base import ViewLogits  # noqa: E402
from viewvote.methods.zero import Zero  # noqa: E402

SCALE = 128.0  # a power of two: scaling rounds nothing, so both sides see the very same cosines


def random_cosines(seed, *, views=64, classes=7, dtype=np.float32):
    """Cosines as CLIP gives them: close together, so that votes are split and ties are common."""
    return np.random.default_rng(seed).normal(0.2, 0.02, (views, classes)).astype(dtype)


def ours(method, cosines):
    logits = cosines.astype(np.float32) * np.float32(SCALE)
    return method.decide(ViewLogits(logits=logits, logit_scale=SCALE))


@pytest.mark.parametrize("views", [10, 16, 64])
def test_reference_decides_as_zero_does_on_the_same_logits(views):
    ties = 0
    for seed in range(150):
        cosines = random_cosines(seed, views=views)
        decision = ours(Zero(), cosines)
        if decision.tie_break == "most-confident":  # where the paper is silent; the next test covers it
            continue
        ties += decision.tie_break is not None
        assert decide(torch.from_numpy(cosines), logit_scale=SCALE) == decision.index
    assert ties > 10


def test_reference_in_half_precision_decides_as_the_papers_soft_votes():
    sharp_differs = 0
    for seed in range(150):
        cosines = random_cosines(seed, dtype=np.float16)
        expected = ours(Zero(compat="paper"), cosines).index
        assert decide(torch.from_numpy(cosines), logit_scale=SCALE) == expected
        sharp_differs += ours(Zero(), cosines).index != expected
    assert sharp_differs > 0  # so the soft votes were really at work


def test_a_tie_no_other_view_breaks_goes_to_the_next_views_larger_cosine():
    # Six views, two kept (a sure A, a sure B), and the four others say C; of A and B the third view prefers B.
    cosines = torch.tensor([[0.9, 0.0, 0.0], [0.0, 0.9, 0.0], [0.1, 0.2, 0.5], *[[0.2, 0.1, 0.3]] * 3])
    assert decide(cosines, logit_scale=10, keep=0.34) == 1


def test_reference_draws_the_source_view_then_random_crops_and_answers_from_them():
    text = torch.eye(3)
    spec = ImageSpec(size=32, mean=(0, 0, 0), std=(1, 1, 1))
    reference = Reference(lambda views: views.mean(dim=(2, 3)), text, spec, logit_scale=SCALE, n_views=8)
    encoded = io.BytesIO()
    draw_photo(80, 60).save(encoded, "PNG")
    views = reference.draw(encoded.getvalue())
    assert views.shape == (8, 3, 32, 32)
    assert len({view.numpy().tobytes() for view in views}) == 8
    green = io.BytesIO()
    draw_photo(80, 60).point([0] * 256 + [255] * 256 + [9] * 256).save(green, "PNG")
    assert reference(green.getvalue()) == 1
