"""Text heads and features in memory: the same bits, within a number of bytes, and nothing on disk."""

import tracemalloc

import numpy as np
import pytest

from tests.server.living import png, running
from viewvote import ToyEncoder
from viewvote.encoders.text_head import encode_classes
from viewvote.errors import UsageError
from viewvote.server.features import ENTRY, FeatureCache
from viewvote.server.heads import HeadCache, HeadUnknownError


def test_a_head_is_built_once_and_then_recalled():
    cache, encoder = HeadCache(max_bytes=100_000, max_texts=100), ToyEncoder()
    with pytest.raises(HeadUnknownError):
        cache.recall(encoder, ["red", "green"], templates=["{}"])
    built = cache.build(encoder, ["red", "green"], templates=["{}"])
    assert np.array_equal(built.features, encode_classes(encoder, ["red", "green"], templates=["{}"]))
    assert cache.recall(encoder, ("red", "green"), templates=("{}",)) is built
    assert cache.build(encoder, ["red", "green"], templates=["{}"]) is built
    with pytest.raises(HeadUnknownError):
        cache.recall(encoder, ["green", "red"], templates=["{}"])
    with pytest.raises(HeadUnknownError):
        cache.recall(ToyEncoder(), ["red", "green"], templates=["{}"])
    assert (cache.hits, cache.misses) == (1, 1)


def test_heads_not_used_for_longest_make_room():
    cache, encoder = HeadCache(max_bytes=3500, max_texts=100), ToyEncoder()
    for label in ("red", "green", "blue"):
        cache.build(encoder, [label], templates=["{}"])
    cache.recall(encoder, ["red"], templates=["{}"])
    cache.build(encoder, ["white"], templates=["{}"])
    assert len(cache) == 3
    cache.recall(encoder, ["red"], templates=["{}"])
    with pytest.raises(HeadUnknownError):
        cache.recall(encoder, ["green"], templates=["{}"])


def test_too_many_texts_are_a_mistake():
    cache = HeadCache(max_bytes=1, max_texts=5)
    with pytest.raises(UsageError, match="3 labels in 2 templates are 6 texts; the limit is 5"):
        cache.build(ToyEncoder(), ["a", "b", "c"], templates=["{}", "a {}"])


def test_labels_of_requests_are_not_written_to_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path))
    with running() as client:
        own = sorted(tmp_path.rglob("*.npy"))
        assert len(own) == 2  # of the service's labels, and of the ordinary names that likeness is measured against
        client.classify(png(), labels=["yellow", "cyan"], none=True)
        assert sorted(tmp_path.rglob("*.npy")) == own
        assert client.service.heads.misses == 2  # the labels, and the background they are measured against


def rows(count):
    return np.arange(3 * count, dtype=np.float32).reshape(count, 3)


def test_features_of_whole_blocks_are_kept():
    class Blocks(ToyEncoder):
        block_views = 8

    class Unknown(ToyEncoder):
        block_views = None

    cache = FeatureCache(Blocks(), max_bytes=10_000)
    key = cache.key(b"photo", seed=0, augment="crops")
    assert len(cache.known(key)) == 0
    cache.keep(key, rows(12))
    assert np.array_equal(cache.known(key), rows(8))
    cache.keep(key, rows(4))
    assert len(cache.known(key)) == 8
    assert len(cache.known(cache.key(b"photo", seed=1, augment="crops"))) == 0
    assert len(cache.known(cache.key(b"photo", seed=0, augment="augmix"))) == 0
    assert not FeatureCache(Unknown(), max_bytes=10_000).on


def test_an_entry_takes_about_what_is_counted_for_it():
    cache = FeatureCache(ToyEncoder(), max_bytes=10**8)
    cache.keep(cache.key(b"first", seed=0, augment="crops"), rows(8))
    tracemalloc.start()
    for i in range(1000):
        cache.keep(cache.key(b"%d" % i, seed=10**6 + i, augment="crops"), rows(8))
    taken = tracemalloc.get_traced_memory()[0] / 1000 - rows(8).nbytes
    tracemalloc.stop()
    assert ENTRY / 2 < taken < ENTRY


def test_features_stay_within_their_bytes():
    cache = FeatureCache(ToyEncoder(), max_bytes=3000)
    keys = [cache.key(bytes([i]), seed=0, augment="crops") for i in range(30)]
    for i, key in enumerate(keys):
        cache.keep(key, rows(8 + i % 3))
        held = [cache.known(k).nbytes for k in keys[: i + 1] if len(cache.known(k))]
        assert sum(held) + ENTRY * len(held) <= 3000
    assert len(cache.known(keys[-1])) > 0
    off = FeatureCache(ToyEncoder(), max_bytes=0)
    off.keep(keys[0], rows(8))
    assert len(off.known(keys[0])) == 0
