"""Encode once, ask many times: answers from features are those from the images, to the last bit."""

import json
import os

import numpy as np
import pytest

from tests.conftest import InBlocks, draw_photo
from tests.images.pictures import BLUE, GREEN, RED, picture, same
from viewvote import Adaptive, Classifier, ToyEncoder, open_features
from viewvote.errors import FeaturesError, UnreadableImageError, UsageError
from viewvote.files import example_photos
from viewvote.methods import METHODS, TuningMethod, method_entry
from viewvote.views.sample import Keyed

TRAINING_FREE = [
    name
    for name in METHODS
    if method_entry(name).is_installed
    and method_entry(name).extra is None
    and not issubclass(METHODS.get(name), TuningMethod)
]
LABELS = ["red", "green", "blue"]
OTHERS = ["yellow", "a cyan thing", "magenta", "white"]


def drawn(count=4):
    return [draw_photo(50 + 9 * i, 70 - 8 * i, seed=i) for i in range(count)]


def toy(model="toy", **settings):
    return Classifier(model, **{"labels": LABELS, "n_views": 24} | settings)


class Whole(ToyEncoder):
    """A toy of which nothing is known of blocks, and whose last bits depend on how many views there are."""

    model_id = "whole"
    block_views = None

    def encode_images(self, views):
        return (super().encode_images(views) * np.float32(1 + 1e-6 * len(views))).astype(np.float32)


@pytest.mark.parametrize("method", TRAINING_FREE)
@pytest.mark.parametrize("augment", ["crops", "augmix"])
def test_every_training_free_method_answers_as_from_the_images(method, augment):
    images = drawn()
    features = toy(augment=augment).encode(images)
    asked = toy(labels=OTHERS, method=method, augment=augment)
    from_features = list(asked.predict_features(features))
    asked.reset()
    for one, other in zip(from_features, asked.predict_many(images), strict=True):
        assert same(one, other)


@pytest.mark.parametrize("keep", [0.05, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_views", [1, 2, 8, 24])
def test_other_keeps_and_fewer_views_are_there_too(keep, n_views):
    images = drawn()
    asked = toy(keep=keep, n_views=n_views, evidence=True)
    for one, other in zip(asked.predict_features(toy().encode(images)), asked.predict_many(images), strict=True):
        assert same(one, other)
        assert np.array_equal(one.trace.evidence.logits, other.trace.evidence.logits)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_views": "auto"},
        {"n_views": Adaptive(budget=64), "method": "zero"},
        {"n_views": 64, "method": "zero", "stop": "exact"},
    ],
)
def test_views_that_stop_early_stop_at_the_same_view(settings):
    images = [picture(RED), *drawn(3)]
    asked = toy(**settings)
    found = list(asked.predict_features(toy(n_views=64).encode(images)))
    for one, other in zip(found, asked.predict_many(images), strict=True):
        assert same(one, other)
        assert (one.views_used, one.stop) == (other.views_used, other.stop)
    assert found[0].views_used < asked.n_views


@pytest.mark.parametrize("batch_views", [1, 24, 100])
def test_how_many_views_are_encoded_at_once_changes_no_bit(batch_views):
    images = drawn(5)
    by_default = toy(InBlocks()).encode(images)
    for one, other in zip(by_default, toy(InBlocks()).encode(images, batch_views=batch_views), strict=True):
        assert np.array_equal(one.features, other.features)


def test_models_that_compute_in_blocks_answer_for_whole_blocks():
    images = drawn()
    encoder = InBlocks()
    features = toy(encoder).encode(images)
    for n_views in (8, 16, 24):
        asked = toy(encoder, n_views=n_views)
        for one, other in zip(asked.predict_features(features), asked.predict_many(images), strict=True):
            assert same(one, other)
    with pytest.raises(UsageError, match=r"first 12 of 24 views.*multiples of 8"):
        toy(encoder, n_views=12).predict_features(features)


def test_models_of_unknown_blocks_answer_for_all_views_only():
    images = drawn()
    encoder = Whole()
    features = toy(encoder).encode(images)
    for one, other in zip(toy(encoder).predict_features(features), toy(encoder).predict_many(images), strict=True):
        assert same(one, other)
    with pytest.raises(UsageError, match="no fewer than all"):
        toy(encoder, n_views=8).predict_features(features)


def test_the_embedded_model_answers_as_from_the_photographs():
    clf = Classifier("pocket", labels=["cat", "astronaut"], n_views=16)
    features = clf.encode(example_photos()[:2])
    for settings in ({"method": "anchored"}, {"n_views": 8, "keep": 0.5}, {"method": "marginal"}):
        asked = Classifier(clf.encoder, **{"labels": ["an animal", "a person", "a thing"], "n_views": 16} | settings)
        for one, other in zip(asked.predict_features(features), asked.predict_many(example_photos()[:2]), strict=True):
            assert same(one, other)


def test_what_is_no_features_is_named():
    with pytest.raises(UsageError, match=r"what clf\.encode or viewvote\.open_features returned; got a str"):
        toy().predict_features("features")


def test_none_of_these_and_each_label_alone_are_answered_too():
    images = drawn()
    asked = toy(none_of_these=True, multi_label=True)
    features = toy().encode(images)
    for one, other in zip(asked.predict_features(features), asked.predict_many(images), strict=True):
        assert same(one, other)
        assert one.shown == other.shown
    assert np.array_equal(asked.predict_proba(features), asked.predict_proba(images))
    assert asked.predict_proba(features).shape == (4, 4)
    assert asked.score(features, asked.predict(images)) == 1.0


def test_other_photos_as_context_count_from_features_too():
    images = drawn()
    asked = toy(n_views="auto").with_context(images, mix="varied")
    features = toy(n_views=64).encode(images)
    for one, other in zip(asked.predict_features(features), asked.predict_many(images), strict=True):
        assert same(one, other)
        assert one.context is asked.context


def test_with_labels_asks_another_question():
    clf = toy()
    features = clf.encode([picture(RED), picture(BLUE)])
    assert [p.label for p in clf.predict_features(features)] == ["red", "blue"]
    assert [p.label for p in clf.with_labels(["magenta", "white"]).predict_features(features)] == ["magenta", "magenta"]


def test_the_shapes_of_scikit_learn_take_features_too():
    clf = toy()
    images = [picture(RED), picture(GREEN), picture(BLUE)]
    features = clf.encode(images)
    assert clf.predict(features).tolist() == clf.predict(images).tolist() == ["red", "green", "blue"]
    assert np.array_equal(clf.predict_proba(features), clf.predict_proba(images))
    assert clf.score(features, ["red", "green", "green"]) == clf.score(images, ["red", "green", "green"]) == 2 / 3


def test_a_key_of_a_dataset_gives_its_views():
    image = Keyed(draw_photo(60, 50), key="7/a.jpg", dataset="pets")
    asked = toy()
    (one,) = asked.predict_features(asked.encode([image]))
    assert same(one, asked(image))
    assert not same(one, asked(image.image))


def test_features_in_a_folder_are_the_same(tmp_path):
    paths = []
    for i, image in enumerate(drawn()):
        image.save(tmp_path / f"{i}.png")
        paths.append(tmp_path / f"{i}.png")
    asked = toy()
    written = asked.encode(paths, out=tmp_path / "features")
    opened = open_features(tmp_path / "features")
    assert repr(opened) == "Features(4 images x 24 views x 3, 'toy')"
    assert written.paths == opened.paths == tuple(map(str, paths))
    for one, other in zip(asked.predict_features(opened), asked.predict_many(paths), strict=True):
        assert same(one, other)
        assert one.path == other.path
    array = np.load(tmp_path / "features" / "features.npy", mmap_mode="r", allow_pickle=False)
    assert array.shape == (4, 24, 3)
    assert np.array_equal(array[2], opened[2].features)
    lines = (tmp_path / "features" / "images.jsonl").read_text().splitlines()
    assert [json.loads(line)["path"] for line in lines] == [str(path) for path in paths]


def test_slices_and_negative_positions_are_those_of_a_list():
    features = toy().encode(drawn())
    assert [one.facts for one in features[1:3]] == list(features.facts[1:3])
    assert features[-1].facts == features.facts[-1]
    with pytest.raises(IndexError):
        features[4]


def test_images_that_cannot_be_read_stop_it_or_are_skipped(tmp_path):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    images = [picture(RED), tmp_path / "bad.png", picture(BLUE)]
    with pytest.raises(UnreadableImageError, match=r"bad\.png"):
        toy().encode(images)
    features = toy().encode(images, on_error="skip")
    assert len(features) == 2
    assert [type(error) for error in features.skipped] == [UnreadableImageError]
    assert toy().predict(features).tolist() == ["red", "blue"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 1}, "seed 0, not 1"),
        ({"augment": "augmix"}, "augment 'crops', not 'augmix'"),
        ({"n_views": 25}, r"hold 24 views .* 25 are asked"),
        ({"model": InBlocks()}, "model 'toy', not 'in-blocks'"),
        ({"teacher": ToyEncoder(size=8)}, "teacher looks at pixels"),
    ],
)
def test_features_of_another_question_are_refused(settings, message):
    features = toy().encode([picture()])
    with pytest.raises(UsageError, match=message):
        toy(**settings).predict_features(features)


def test_another_image_tower_of_the_same_name_is_noticed():
    class SeesNoBlue(ToyEncoder):
        def encode_images(self, views):
            return super().encode_images(views * np.array([1, 1, 0], np.uint8))

    features = toy().encode([picture()])
    with pytest.raises(UsageError, match="another image tower"):
        toy(SeesNoBlue()).predict_features(features)


def test_an_interrupted_encoding_continues_where_it_stopped(tmp_path):
    paths = []
    for i in range(6):
        picture((40 * i, 90, 200)).save(tmp_path / f"{i}.png")
        paths.append(str(tmp_path / f"{i}.png"))
    clf, out = toy(), tmp_path / "features"

    def stop(done, total):
        assert total == 6
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clf.encode(paths, out=out, progress=stop)
    unfinished = open_features(out)
    assert not unfinished.complete
    assert unfinished.paths == tuple(paths[:3])
    seen = []
    resumed = clf.encode(paths, out=out, resume=True, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert resumed.complete
    assert resumed.paths == tuple(paths)
    whole = clf.encode(paths, out=tmp_path / "at once")
    for name in ("features.npy", "images.jsonl", "encoding.json"):
        assert (out / name).read_bytes() == (tmp_path / "at once" / name).read_bytes()
    assert len(whole) == 6


@pytest.fixture
def stored(tmp_path):
    for i in range(5):
        picture((40 * i, 90, 200)).save(tmp_path / f"{i}.png")
    paths = [str(tmp_path / f"{i}.png") for i in range(5)]
    toy().encode(paths, out=tmp_path / "features")
    before = {path.name: path.read_bytes() for path in (tmp_path / "features").iterdir()}
    return tmp_path / "features", paths, before


def test_whatever_a_kill_leaves_is_continued_to_the_same_bytes(stored):
    folder, paths, before = stored
    row = 24 * 3 * 4
    lines = before["images.jsonl"].split(b"\n")[:-1]
    unfinished = before["encoding.json"].replace(b'"images": 5', b'"images": null')
    for rows, text in [
        (before["features.npy"][: 128 + 2 * row + 7], b"\n".join(lines[:2]) + b"\n"),  # a row half written
        (before["features.npy"][: 128 + 3 * row], b"\n".join(lines[:2]) + b"\n" + lines[2][:9]),  # a line half written
        (before["features.npy"][: 128 + 1 * row], b"\n".join(lines[:4]) + b"\n"),  # the disk lost the rows
        (before["features.npy"][: 128 + row] + bytes(3 * row), b"\n".join(lines[:4]) + b"\n"),  # or made them zeros
        (b"", b""),
        (before["features.npy"][:60], b""),
    ]:
        (folder / "features.npy").write_bytes(rows)
        (folder / "images.jsonl").write_bytes(text)
        (folder / "encoding.json").write_bytes(unfinished)
        toy().encode(paths, out=folder, resume=True)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_damage_is_an_error_that_names_the_image(stored):
    folder, paths, before = stored
    data = bytearray(before["features.npy"])
    data[128 + 2 * 24 * 3 * 4 + 5] ^= 1
    (folder / "features.npy").write_bytes(data)
    with pytest.raises(FeaturesError, match=r"features of .*2\.png.* are damaged"):
        list(toy().predict_features(open_features(folder)))
    (folder / "features.npy").write_bytes(before["features.npy"][:-1])
    with pytest.raises(FeaturesError, match="cut short"):
        open_features(folder)
    (folder / "features.npy").write_bytes(before["features.npy"])
    (folder / "images.jsonl").write_bytes(before["images.jsonl"].replace(b'"size"', b'"shape"', 1))
    with pytest.raises(FeaturesError, match=r"images\.jsonl, line 1"):
        open_features(folder)
    (folder / "images.jsonl").write_bytes(before["images.jsonl"].split(b"\n", 1)[1])
    with pytest.raises(FeaturesError, match="4 whole lines and should have 5"):
        open_features(folder)
    made = before["encoding.json"]
    for wrong, message in ((b'"many"', "'n_views' is 'many'"), (b"null", "'n_views' is None")):
        (folder / "encoding.json").write_bytes(
            before["encoding.json"].replace(b'"n_views": 24', b'"n_views": ' + wrong)
        )
        with pytest.raises(FeaturesError, match=message):
            open_features(folder)
    (folder / "encoding.json").write_bytes(made.replace(b'"seed"', b'"seeds"'))
    with pytest.raises(FeaturesError, match="'seed' is missing"):
        open_features(folder)
    for change in (
        '"dim": -3',
        '"probe": [[1]]',
        '"probe": ["x"]',
        '"images": -1',
        '"block_views": "a"',
        '"augment": "x"',
    ):
        (folder / "encoding.json").write_text(json.dumps(json.loads(made) | json.loads(f"{{{change}}}")))
        with pytest.raises(FeaturesError, match=change.split(":")[0].strip('"')):
            open_features(folder)
    (folder / "encoding.json").write_text('{"format": "viewvote-features-9"}')
    with pytest.raises(FeaturesError, match="viewvote-features-9"):
        open_features(folder)
    with pytest.raises(UsageError, match="holds no features"):
        open_features(folder.parent)
    del paths


@pytest.mark.parametrize(
    "change", [{"size": ["a", "b"]}, {"size": [1]}, {"size": [0, 5]}, {"key": 3}, {"checksum": "a"}, {"path": []}]
)
def test_an_edited_line_is_an_error_that_names_it(stored, change):
    folder, _, before = stored
    first, rest = before["images.jsonl"].split(b"\n", 1)
    (folder / "images.jsonl").write_bytes(json.dumps(json.loads(first) | change).encode() + b"\n" + rest)
    with pytest.raises(FeaturesError, match=rf"images\.jsonl, line 1: '{next(iter(change))}'"):
        open_features(folder)
    (folder / "images.jsonl").write_bytes(b"[" * 100_000 + b"\n" + rest)
    with pytest.raises(FeaturesError, match="line 1"):
        open_features(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_features_is_an_error_at_once(stored):
    folder, _, _ = stored
    (folder / "images.jsonl").unlink()
    os.mkfifo(folder / "images.jsonl")
    with pytest.raises(FeaturesError, match="not a regular file"):
        open_features(folder)


def test_a_folder_of_other_features_is_not_continued(stored):
    folder, paths, before = stored
    for settings, message in [
        ({"seed": 3}, "seed 0, not 3"),
        ({"n_views": 8}, "24 views of each image, not 8"),
        ({"model": Whole()}, "model 'toy'"),
    ]:
        with pytest.raises(UsageError, match=message):
            toy(**settings).encode(paths, out=folder, resume=True)
    with pytest.raises(UsageError, match="holds features already"):
        toy().encode(paths, out=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(toy(n_views=2).encode(paths[:1], out=folder, overwrite=True)) == 1


def test_resuming_needs_paths_and_a_folder(tmp_path):
    with pytest.raises(UsageError, match=r"knows images by their paths; got an image of type Image"):
        toy().encode([picture()], out=tmp_path / "features", resume=True)
    with pytest.raises(UsageError, match="name it with out="):
        toy().encode([picture()], resume=True)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write into"):
        toy().encode([picture()], out=tmp_path / "file")


def test_no_images_are_no_answers(tmp_path):
    assert toy().predict(toy().encode([])).tolist() == []
    assert len(toy().encode([], out=tmp_path / "none")) == 0
    assert list(toy().predict_features(open_features(tmp_path / "none"))) == []


def test_images_are_encoded_as_they_come(tmp_path):
    asked = []

    def endless():
        for i in range(1000):
            asked.append(i)
            yield picture()

    def stop(done, total):
        assert total is None
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toy().encode(endless(), out=tmp_path / "features", batch_views=24, progress=stop)
    assert len(asked) < 15
