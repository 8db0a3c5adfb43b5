"""What every tuning method promises, over the registry: errors without torch, steady memory, real photographs."""

import gc
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch

from tests.encoders.torch.tiny_torch import write_hf_clip
from tests.methods.tuning.tuning_cases import CPU, NAMES, Zoo, episode_on, is_frozen, state_bits
from viewvote.classify.classifier import Classifier
from viewvote.encoders import load_encoder
from viewvote.methods import METHODS, TuningMethod
from viewvote.methods.tuning.promptalign import PromptAlign
from viewvote.methods.tuning.rlcf import Rlcf
from viewvote.methods.tuning.token_statistics import gather_statistics
from viewvote.methods.tuning.tpt import Tpt

pytestmark = pytest.mark.torch
TUNING = [name for name in METHODS if METHODS.entry(name).extra == "torch"]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="module")
def cases(zoo):
    """Every way of tuning: name -> (method, encoder, teacher)."""
    statistics = gather_statistics(zoo.maple, list(episode_on(zoo.maple).pixels))
    return {
        "tpt": (Tpt(), zoo.plain, None),
        "tpt on coop": (Tpt(), zoo.coop, None),
        "tpt on maple": (Tpt(), zoo.maple, None),
        "promptalign": (PromptAlign(statistics), zoo.maple, None),
        "rlcf": (Rlcf(), zoo.plain, zoo.plain),
        "rlcf image": (Rlcf(tune="image"), zoo.plain, zoo.plain),
    }


WAYS = ["tpt", "tpt on coop", "tpt on maple", "promptalign", "rlcf", "rlcf image"]


def test_all_of_them_are_here(cases):
    assert TUNING == ["promptalign", "rlcf", "tpt"]
    assert {method.name for method, _, _ in cases.values()} == set(TUNING)
    assert list(cases) == WAYS


@pytest.mark.parametrize("name", TUNING)
def test_without_torch_the_error_says_what_to_install(name):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from viewvote import Classifier, MissingExtraError\n"
        f"try: Classifier('toy', labels=['red'], method={name!r})\n"
        "except MissingExtraError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 'pip install "viewvote[torch]"' in out


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_tuning_keeps_the_common_promises(cases, way):
    method, encoder, teacher = cases[way]
    assert isinstance(method, TuningMethod)
    episode = episode_on(encoder, teacher=teacher, n_views=20)
    decision = method.adapt(episode)
    assert decision.scores.dtype == np.float32
    assert decision.scores.sum() == pytest.approx(1, abs=1e-5)
    assert decision.scores[decision.index] == decision.scores.max() == decision.confidence
    assert decision.views.kept.sum() == 2
    assert len(decision.views.labels) == len(decision.views.entropy) == len(decision.views.top_probability) == 20
    single = method.adapt(episode_on(encoder, teacher=teacher, n_views=1))  # the source view is kept, and tuned on
    assert single.views.kept.tolist() == [True]


@pytest.mark.parametrize("way", WAYS)
def test_memory_does_not_grow_over_images(cases, way):
    method, encoder, teacher = cases[way]
    episode = episode_on(encoder, teacher=teacher, n_views=4)

    def live():
        gc.collect()
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    method.adapt(episode)
    before = live()
    for _ in range(4):
        method.adapt(episode)
    assert live() <= before


def test_python_memory_does_not_grow_either(cases):
    method, encoder, teacher = cases["rlcf image"]
    episode = episode_on(encoder, teacher=teacher, n_views=4)
    method.adapt(episode)
    tracemalloc.start()
    method.adapt(episode)
    first, _ = tracemalloc.get_traced_memory()
    for _ in range(5):
        method.adapt(episode)
    last, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert last - first < 50_000


@pytest.mark.parametrize("form", ["plain", "maple"])
def test_many_classes_in_small_chunks_give_the_same_answer(zoo, form):
    names = [f"thing {i}" for i in range(90)]
    episode = episode_on(getattr(zoo, form), names=names, n_views=10)
    small, large = (Tpt(chunk=chunk, lr=1e-3).adapt(episode) for chunk in (7, 90))
    np.testing.assert_allclose(small.scores, large.scores, atol=1e-5)


@pytest.mark.parametrize("way", ["tpt", "rlcf", "rlcf image"])
def test_models_of_transformers_are_tuned_too(tmp_path, way):
    write_hf_clip(tmp_path)
    encoder = load_encoder(f"hf:{tmp_path}", CPU)
    method = {"tpt": Tpt(keep=0.5), "rlcf": Rlcf(keep=0.5), "rlcf image": Rlcf(tune="image", keep=0.5)}[way]
    teacher = None if way == "tpt" else encoder
    classifier = Classifier(encoder, labels=NAMES, method=method, teacher=teacher, n_views=6)
    before = state_bits(encoder)
    image = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    prediction = classifier(image)
    assert prediction.notes == ()
    assert state_bits(encoder) == before
    assert is_frozen(encoder)
    plain = Classifier(encoder, labels=NAMES, method="zero-shot")(image)
    assert np.abs(prediction.scores - plain.scores).max() > 1e-6


@pytest.mark.photos
def test_every_way_of_tuning_runs_on_real_photographs(cases, photos):
    paths = sorted((photos / "eval").rglob("*.jpg"))[:2]
    assert len(paths) == 2
    for method, encoder, teacher in cases.values():
        classifier = Classifier(encoder, labels=NAMES, method=method, teacher=teacher, n_views=16)
        for prediction in classifier.predict_many(paths):
            assert prediction.notes == ()
            assert 0 < prediction.confidence <= 1
