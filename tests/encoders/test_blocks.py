"""A stream gives the features of single images to the last bit, for every encoder whose last bits depend on batches."""

import numpy as np
import pytest

from tests.conftest import draw_photo

pytest.importorskip("torch")
pytest.importorskip("open_clip")

from tests.encoders.torch.tiny_torch import write_open_clip
from viewvote import Classifier, LoadOptions, ToyEncoder, load_encoder
from viewvote.classify.scheduler import encode_units

pytestmark = pytest.mark.torch
LABELS = ["cat", "dog", "red fox", "sea lion", "ship"]


@pytest.fixture(scope="module", params=["open_clip", "pocket-torch", "pocket"])
def encoder(request, tmp_path_factory):
    if request.param != "open_clip":
        return load_encoder(request.param, LoadOptions(device="cpu"))
    folder = write_open_clip(tmp_path_factory.mktemp("tiny"))
    return load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu"))


@pytest.fixture(scope="module")
def images(encoder):
    few = encoder.image_spec.size > 100  # the pocket model takes a while
    return [draw_photo(60 + i, 50, seed=i) for i in range(2 if few else 6)]


def numbers(prediction):
    """Everything a prediction says, but for the time it took."""
    views = [(v.entropy, v.top_probability, v.label, v.kept) for v in prediction.trace.views]
    logits = prediction.trace.evidence.logits
    return (
        prediction.index,
        prediction.confidence,
        prediction.probability,
        prediction.views_used,
        views,
        logits.tobytes(),
    )


@pytest.mark.parametrize("n_views", [1, 3, 8, 20])
def test_many_equal_one_at_a_time_to_the_last_bit(encoder, images, n_views):
    classifier = Classifier(encoder, labels=LABELS, n_views=n_views, evidence=True)
    alone = [numbers(classifier(image)) for image in images]
    slow = encoder.image_spec.size > 100 and n_views > 3
    for batch_views in (7,) if slow else (1, 7, 64):
        assert [numbers(p) for p in classifier.predict_many(images, batch_views=batch_views)] == alone


def test_rounds_have_the_numbers_of_the_full_run(encoder, images):
    full = Classifier(encoder, labels=LABELS, n_views=20, evidence=True, keep=1.0)
    exact = Classifier(encoder, labels=LABELS, n_views=20, evidence=True, keep=1.0, stop="exact")
    for whole, part in zip(full.predict_many(images), exact.predict_many(images, batch_views=11), strict=True):
        seen = part.views_used
        assert part.index == whole.index
        candidates = np.intersect1d(part.trace.evidence.candidates, whole.trace.evidence.candidates)
        rows = [
            p.trace.evidence.logits[:seen, np.searchsorted(p.trace.evidence.candidates, candidates)]
            for p in (whole, part)
        ]
        assert rows[0].tobytes() == rows[1].tobytes()
        assert [v.entropy for v in whole.trace.views[:seen]] == [v.entropy for v in part.trace.views]


def test_torch_encodes_in_blocks_counted_from_the_first_view(encoder):
    size = encoder.image_spec.size
    views = np.random.default_rng(0).integers(0, 256, (19, size, size, 3), dtype=np.uint8)
    block = encoder.block_views
    parts = [encoder.encode_images(views[i : i + block]) for i in range(0, 19, block)]
    assert encoder.encode_images(views).tobytes() == np.concatenate(parts).tobytes()


class Listening(ToyEncoder):
    def __init__(self, block):
        super().__init__()
        self.block_views = block
        self.calls = []

    def encode_images(self, views):
        self.calls.append(len(views))
        return super().encode_images(views)


@pytest.mark.parametrize(
    ("block", "sizes", "calls"),
    [(8, [8, 8, 4, 8, 3, 8], [20, 11, 8]), (1, [1, 1, 1], [3]), (None, [8, 8, 4], [8, 8, 4])],
)
def test_whole_blocks_share_a_call_and_a_part_ends_it(block, sizes, calls):
    encoder = Listening(block)
    rows = encode_units(encoder)([np.zeros((n, 32, 32, 3), dtype=np.uint8) for n in sizes])
    assert [len(one) for one in rows] == sizes
    assert encoder.calls == calls
