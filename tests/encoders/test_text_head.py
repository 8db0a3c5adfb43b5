"""Class names x templates to unit embeddings: by hand, once, and safely on disk."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from viewvote.encoders import text_head
from viewvote.encoders.text_head import BLOCK, TextHead, build_text_head, class_tiles, encode_classes, steady_product
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import UsageError
from viewvote.files import default_cache_dir


class CountingToy(ToyEncoder):
    def __init__(self):
        super().__init__()
        self.batches = []

    def encode_texts(self, texts):
        self.batches.append(len(texts))
        return super().encode_texts(texts)


def test_templates_are_normalised_averaged_and_normalised_again():
    # "red {}" is red whatever the label; "{}" is the label's own colour: the mean of two unit vectors, renormalised
    got = encode_classes(ToyEncoder(), ["blue", "red"], templates=["red {}", "{}"])
    np.testing.assert_allclose(got, [[0.5**0.5, 0, 0.5**0.5], [1, 0, 0]], atol=1e-6)


def test_texts_of_a_label_are_averaged_whatever_their_number_of_templates():
    # of the label's own texts "green" is a name (red in one template, green in the other), the sentence is blue
    got = encode_classes(ToyEncoder(), ["red", ("green", "a blue thing")], templates=["red {}", "{}"])
    np.testing.assert_allclose(got, [[1, 0, 0], [0.5, 0.5, 0.5**0.5]], atol=1e-6)


def test_plain_labels_have_the_same_bits_beside_labels_with_texts():
    plain = encode_classes(ToyEncoder(), ["red", "olive"], templates=["red {}", "{}", "blue {}"])
    mixed = encode_classes(ToyEncoder(), ["red", "olive", ("green",)], templates=["red {}", "{}", "blue {}"])
    np.testing.assert_array_equal(plain, mixed[:2])


def test_a_learned_prompt_takes_names_only():
    class Prompted(ToyEncoder):
        def encode_class_names(self, names):
            return self.encode_texts(names)

    np.testing.assert_array_equal(encode_classes(Prompted(), ["red"], templates=["{}"]), [[1, 0, 0]])
    with pytest.raises(UsageError, match="learned prompt around names"):
        encode_classes(Prompted(), ["red", ("a green thing",)], templates=["{}"])


def test_logits_are_at_the_models_own_scale():
    toy = ToyEncoder(logit_scale=20)
    head = build_text_head(toy, ["red", "green"], templates=["{}"])
    assert head.weights.shape == (3, 2)
    np.testing.assert_allclose(head.logits(np.array([[0.6, 0.8, 0]], np.float32), toy), [[12, 16]], atol=1e-5)


def test_texts_are_encoded_in_bounded_chunks():
    toy = CountingToy()
    encode_classes(toy, [f"red {i}" for i in range(300)], templates=["{} a", "{} b"])
    assert sum(toy.batches) == 600
    assert max(toy.batches) <= text_head.CHUNK


def test_a_second_start_encodes_no_text(tmp_path):
    toy = CountingToy()
    first = build_text_head(toy, ["red", "blue"], templates=["{}"], cache_dir=tmp_path)
    assert not first.cached
    assert toy.batches == [2]
    second = build_text_head(toy, ["red", "blue"], templates=["{}"], cache_dir=tmp_path)
    assert second.cached
    assert toy.batches == [2]
    np.testing.assert_array_equal(first.features, second.features)


def test_anything_that_changes_the_text_is_another_entry(tmp_path):
    def build(names=("red", "blue"), templates=("{}",), fingerprint="toy-1", model_id="toy"):
        toy = CountingToy()
        toy.fingerprint, toy.model_id = fingerprint, model_id
        return build_text_head(toy, list(names), templates=list(templates), cache_dir=tmp_path).cached

    assert not build()
    assert build()
    for change in (
        {"names": ("blue", "red")},
        {"names": ("red,blue",)},
        {"templates": ("a {}",)},
        {"fingerprint": "toy-2"},
        {"model_id": "toy2"},
    ):
        assert not build(**change)


@pytest.mark.parametrize("damage", [lambda d: d[:10], lambda d: b"", lambda d: d[:-1] + b"x", lambda d: b"junk" * 100])
def test_a_corrupt_file_is_made_again(tmp_path, damage):
    build_text_head(ToyEncoder(), ["red"], templates=["{}"], cache_dir=tmp_path)
    (file,) = (tmp_path / "text-heads").iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    head = build_text_head(ToyEncoder(), ["red"], templates=["{}"], cache_dir=tmp_path)
    assert not head.cached
    np.testing.assert_allclose(head.features, [[1, 0, 0]])
    assert file.read_bytes() == whole


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    head = build_text_head(ToyEncoder(), ["red"], templates=["{}"], cache_dir=tmp_path / "file")
    assert head.features.shape == (1, 3)


def build_many(folder):
    for _ in range(20):
        head = build_text_head(ToyEncoder(), ["red", "blue"], templates=["{}"], cache_dir=Path(folder))
        assert head.features.tolist() == [[1, 0, 0], [0, 0, 1]]
        for file in (Path(folder) / "text-heads").glob("*.npy"):
            file.unlink(missing_ok=True)


def test_concurrent_writers_never_leave_half_a_file(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(build_many, [str(tmp_path)] * 3)
    assert not list((tmp_path / "text-heads").glob("*.tmp"))


def test_the_cache_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path / "elsewhere"))
    assert default_cache_dir() == tmp_path / "elsewhere"
    monkeypatch.delenv("VIEWVOTE_CACHE")
    assert default_cache_dir().name == "viewvote"


def test_an_encoder_with_its_own_prompt_gets_the_bare_names():
    class Prompted(ToyEncoder):
        def encode_class_names(self, names):
            assert list(names) == ["red", "blue"]
            return np.eye(3, dtype=np.float32)[:2] * 5

    np.testing.assert_array_equal(encode_classes(Prompted(), ["red", "blue"], templates=["x {}"]), np.eye(3)[:2])


SHAPES = [(64, 1000, 512), (64, 10, 512), (1, 1000, 512), (300, 101, 768), (5, 1, 640), (0, 3, 8)]

PRODUCT = """
import numpy as np
from hashlib import sha256
from viewvote.encoders.text_head import class_tiles, steady_product
rng = np.random.default_rng(0)
for views, classes, dim in SHAPES:
    left, right = (rng.standard_normal((n, dim), dtype=np.float32) for n in (views, classes))
    print(sha256(np.ascontiguousarray(steady_product(left, class_tiles(right))).tobytes()).hexdigest())
"""


@pytest.mark.parametrize(("views", "classes", "dim"), SHAPES)
def test_the_product_is_that_of_the_matrices(views, classes, dim):
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((n, dim), dtype=np.float32) for n in (views, classes))
    product = steady_product(left, class_tiles(right))
    assert not product[:, classes:].any()
    product = product[:, :classes]
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, left.astype(np.float64) @ right.T.astype(np.float64), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("classes", [1, 70, 1000])
def test_logits_of_whole_blocks_have_the_same_bits_whatever_follows(classes):
    rng = np.random.default_rng(0)
    views, texts = (rng.standard_normal((n, 512), dtype=np.float32) for n in (64, classes))
    head = TextHead(texts, cached=False)
    full = head.logits(views, ToyEncoder())
    for n in (BLOCK, 3 * BLOCK, 64):
        assert head.logits(views[:n], ToyEncoder()).tobytes() == full[:n].tobytes()
    part = head.logits(views[: BLOCK // 2], ToyEncoder())  # filled up with zeros: the rows do not see each other
    assert part.tobytes() == full[: BLOCK // 2].tobytes()


def test_logits_have_the_same_bits_on_any_number_of_threads():
    code = PRODUCT.replace("SHAPES", repr(SHAPES))
    variables = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | dict.fromkeys(variables, threads),
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    ]
    assert printed[0] == printed[1] == printed[2]
    assert len(printed[0].split()) == len(SHAPES)
