"""The shape transformers users know."""

import pytest
from PIL import Image

import viewvote
from tests.conftest import draw_photo
from viewvote import LoadOptions, ToyEncoder
from viewvote.classify.drop_in import device_name, full_model_id
from viewvote.classify.pipeline import KEPT
from viewvote.errors import UnknownNameError, UnreadableImageError, UsageError

RED, BLUE = Image.new("RGB", (30, 20), (250, 0, 0)), Image.new("RGB", (30, 20), (0, 0, 250))


def last(pipe):
    """The classifier that was used last."""
    return next(reversed(pipe._classifiers.values()))


@pytest.fixture
def pipe():
    return viewvote.pipeline("zero-shot-image-classification", model="toy", n_views=8)


def test_one_image_gives_a_sorted_list(pipe):
    answer = pipe(RED, candidate_labels=["blue", "red", "green"])
    assert answer[0] == {"score": pytest.approx(0.99), "label": "red"}
    assert [set(row) for row in answer] == [{"score", "label"}] * 3
    assert [row["score"] for row in answer] == sorted((row["score"] for row in answer), reverse=True)


def test_many_images_give_a_list_of_lists(pipe):
    answers = pipe([RED, BLUE], candidate_labels="red, blue")
    assert [answer[0]["label"] for answer in answers] == ["red", "blue"]


def test_the_template_is_used_and_the_head_is_kept(pipe):
    # every prompt says "blue" before the label, so the toy hears nothing else and the first label wins the tie
    assert pipe(BLUE, candidate_labels=["red", "green"], hypothesis_template="blue {}")[0]["label"] == "red"
    head = last(pipe).text_head
    pipe(RED, candidate_labels=["red", "green"], hypothesis_template="blue {}")
    assert last(pipe).text_head is head
    pipe(RED, candidate_labels=["red", "blue"])
    assert last(pipe).text_head is not head
    pipe(RED, candidate_labels=["red", "green"], hypothesis_template="blue {}")
    assert last(pipe).text_head is head
    for i in range(KEPT):
        pipe(RED, candidate_labels=["red", f"thing {i}"])
    assert len(pipe._classifiers) == KEPT


def test_a_method_keeps_its_own_templates_unless_one_is_given():
    pipe = viewvote.pipeline(model="toy", method="ensemble")
    assert pipe(RED, candidate_labels=["red", "blue"])[0]["label"] == "red"
    classifier = last(pipe)
    assert len(classifier.templates) == 7
    pipe(BLUE, candidate_labels=["red", "blue"])
    assert last(pipe) is classifier
    pipe(RED, candidate_labels=["red", "blue"], hypothesis_template="a {}")
    assert last(pipe).templates == ("a {}",)


def test_the_template_is_the_one_transformers_users_know(pipe):
    pipe(RED, candidate_labels=["red"])
    assert last(pipe).templates == ("a photo of a {}.",)


def test_mistakes_are_told(pipe):
    with pytest.raises(UnknownNameError, match="zero-shot-image-classification"):
        viewvote.pipeline("image-classification", model="toy")
    with pytest.raises(UsageError, match="where the label belongs"):
        pipe(RED, candidate_labels=["red"], hypothesis_template="a photo")
    with pytest.raises(UsageError, match="label 1"):
        pipe(RED, candidate_labels="red,")


def test_it_takes_adaptive_views():
    pipe = viewvote.pipeline(model="toy", n_views="adaptive")
    assert pipe(RED, candidate_labels=["red", "green"])[0]["label"] == "red"
    assert last(pipe).rule == viewvote.Adaptive().rule(keep=0.3, vote="anchored")


def test_images_may_have_labels_of_their_own(pipe):
    labels = [["red", "green"], ["cyan", "blue", "white"], ["red", "green"]]
    images = [RED, BLUE, draw_photo(40, 30)]
    answers = pipe(images, candidate_labels=labels)
    assert [[row["label"] for row in answer] for answer in answers[:2]] == [["red", "green"], ["blue", "cyan", "white"]]
    assert answers == [pipe(image, candidate_labels=one) for image, one in zip(images, labels, strict=True)]
    assert pipe(images, candidate_labels=labels, batch_size=1) == answers


def test_an_unreadable_one_of_them_is_an_error(pipe):
    with pytest.raises(UnreadableImageError, match=r"gone\.png"):
        pipe([RED, "gone.png"], candidate_labels=[["red"], ["blue"]])


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        ([RED, BLUE], [["red"]], "got 1 for 2 images"),
        (RED, [["red"], ["blue"]], "got 2 for one image"),
        ([RED, BLUE], [["red"], "blue"], "as many lists as there are images"),
    ],
)
def test_labels_for_each_image_are_as_many_as_the_images(pipe, images, labels, message):
    with pytest.raises(UsageError, match=message):
        pipe(images, candidate_labels=labels)


def test_no_images_have_no_answers(pipe):
    assert pipe([], candidate_labels=["red"]) == []


def test_the_best_few_are_returned_by_the_call_or_by_the_pipeline(pipe):
    assert len(pipe(RED, candidate_labels="red,green,blue", top_k=2)) == 2
    few = viewvote.pipeline(model="toy", n_views=8, top_k=1)
    assert [[row["label"] for row in rows] for rows in few([RED, BLUE], "red,green,blue")] == [["red"], ["blue"]]
    assert len(few(RED, "red,green,blue", top_k=3)) == 3
    with pytest.raises(UsageError, match="top_k must be a whole number of at least 1"):
        pipe(RED, candidate_labels="red", top_k=-1)


def test_a_batch_is_of_images():
    sizes = []

    class Counting(ToyEncoder):
        def encode_images(self, views):
            sizes.append(len(views))
            return super().encode_images(views)

    pipe = viewvote.pipeline(model=Counting(), n_views=8, batch_size=2)
    pipe([RED] * 5, candidate_labels=["red"])
    assert sizes == [16, 16, 8]
    with pytest.raises(UsageError, match="batch_size must be a whole number"):
        pipe(RED, candidate_labels=["red"], batch_size=1.5)


def test_addresses_are_refused_unless_allowed_and_have_a_time(pipe):
    with pytest.raises(UsageError, match="allow_urls=True"):
        pipe("https://example.org/cat.jpg", candidate_labels=["cat"], timeout=1.0)
    allowed = viewvote.pipeline(model="toy", allow_urls=True, timeout=0.5)
    with pytest.raises(UnreadableImageError, match=r"cannot fetch http://127\.0\.0\.1:1/cat\.jpg"):
        allowed("http://127.0.0.1:1/cat.jpg", candidate_labels=["cat"])
    assert last(allowed).url_timeout == 0.5


@pytest.mark.parametrize(
    ("device", "name"), [(-1, "cpu"), (0, "cuda:0"), (2, "cuda:2"), ("cpu", "cpu"), ("cuda:1", "cuda:1")]
)
def test_devices_are_those_of_transformers(device, name):
    assert device_name(device) == name


@pytest.mark.torch
def test_a_torch_device_is_one_too():
    torch = pytest.importorskip("torch")
    assert device_name(torch.device("cuda", 1)) == "cuda:1"


def test_the_device_reaches_the_model(monkeypatch):
    seen = []

    def loaded(model_id, options):
        seen.append((model_id, options))
        return ToyEncoder()

    monkeypatch.setattr("viewvote.classify.pipeline.load_encoder", loaded)
    viewvote.pipeline(model="owner/name", device=-1, options=LoadOptions(dtype="fp16"))
    assert seen == [("hf:owner/name", LoadOptions(device="cpu", dtype="fp16"))]
    with pytest.raises(UsageError, match="on its device already"):
        viewvote.pipeline(model=ToyEncoder(), device=0)
    with pytest.raises(UsageError, match="device is a number or a name"):
        viewvote.pipeline(model="toy", device=True)


def test_bare_repositories_and_folders_are_model_ids(tmp_path):
    assert full_model_id("openai/clip-vit-base-patch16") == "hf:openai/clip-vit-base-patch16"
    assert full_model_id("google/siglip-base-patch16-224@main") == "hf:google/siglip-base-patch16-224@main"
    for known in ("pocket", "toy", "open_clip:ViT-B-16/openai", "onnx:owner/name", "no-such-model"):
        assert full_model_id(known) == known
    assert full_model_id(str(tmp_path)) == f"hf:{tmp_path}"
    (tmp_path / "viewvote.json").write_text("{}")
    assert full_model_id(str(tmp_path)) == f"onnx:{tmp_path}"


GROUPS = {"warm": ["red", "yellow"], "cold": "blue"}


def test_labels_may_have_texts_of_their_own(pipe):
    answer = pipe([RED, BLUE], candidate_labels=GROUPS)
    assert [rows[0]["label"] for rows in answer] == ["warm", "cold"]
    classifier = viewvote.Classifier("toy", labels=GROUPS, n_views=8, templates=["a photo of a {}."])
    expected = classifier(RED)
    assert {row["label"]: row["score"] for row in answer[0]} == {
        label: float(p) for label, p in zip(expected.labels, expected.probabilities, strict=True)
    }


def test_other_texts_of_the_same_labels_are_another_question(pipe):
    assert pipe(RED, candidate_labels={"a": "red", "b": "blue"})[0]["label"] == "a"
    assert pipe(RED, candidate_labels={"a": "blue", "b": "red"})[0]["label"] == "b"
    assert pipe(RED, candidate_labels={"red": "red", "blue": ["blue"]}) == pipe(RED, candidate_labels=["red", "blue"])


def test_each_image_may_have_a_mapping_or_a_list(pipe):
    answers = pipe([RED, BLUE], candidate_labels=[{"it": "red", "other": "blue"}, ["red", "blue"]])
    assert [rows[0]["label"] for rows in answers] == ["it", "blue"]


def test_mistakes_in_a_mapping_are_told(pipe):
    with pytest.raises(UsageError, match="there are no labels"):
        pipe(RED, candidate_labels={})
    with pytest.raises(UsageError, match="label 'cat' has 3"):
        pipe(RED, candidate_labels={"cat": 3})
    with pytest.raises(UsageError, match="as many lists"):
        pipe(RED, candidate_labels=[{"cat": "a cat"}])
