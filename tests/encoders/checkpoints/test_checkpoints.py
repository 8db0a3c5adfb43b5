"""CoOp and MaPLe checkpoints in the authors' own layout, and every way they can be wrong."""

import os
from pickle import UnpicklingError

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import save_file

from tests.encoders.checkpoints.dassl_files import coop_state, maple_state, save_dassl
from viewvote.encoders.checkpoints.prompts import coop_prompt, maple_prompts, maple_shapes
from viewvote.encoders.checkpoints.state_dict import open_state_dict
from viewvote.errors import CheckpointError, ModelNotFoundError

pytestmark = pytest.mark.torch

TEXT, VISION = 16, 24


def coop(path, *, text_width=TEXT, context_length=77):
    return coop_prompt(open_state_dict(path), text_width=text_width, context_length=context_length)


def maple(path, *, text_width=TEXT, vision_width=VISION, context_length=77, blocks=12):
    return maple_prompts(
        open_state_dict(path),
        text_width=text_width,
        vision_width=vision_width,
        context_length=context_length,
        blocks=blocks,
    )


def without(state, *keys):
    return {name: value for name, value in state.items() if name not in keys}


def test_the_files_of_these_tests_are_as_unfriendly_as_the_authors(tmp_path):
    path = save_dassl(tmp_path / "model.pth.tar-50", coop_state(4, width=TEXT))
    with pytest.raises(UnpicklingError):
        torch.load(path, weights_only=True, map_location="cpu")
    full = torch.load(path, weights_only=False, map_location="cpu")
    assert set(full) == {"state_dict", "epoch", "optimizer", "scheduler", "val_result"}
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="CUDA"):
            torch.load(path, weights_only=False)


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("n_ctx", [4, 16])
def test_coop_gives_its_context_in_float32(tmp_path, n_ctx, zip_format):
    state = coop_state(n_ctx, width=TEXT)
    path = save_dassl(tmp_path / "prompt_learner" / "model.pth.tar-50", state, zip_format=zip_format)
    got = coop(path).context
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, state["ctx"].float().numpy())


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("depth", [1, 3, 9])
def test_maple_gives_its_learned_tensors_only(tmp_path, depth, zip_format):
    state = maple_state(depth, text_width=TEXT, vision_width=VISION)
    path = save_dassl(tmp_path / "model.pth.tar-2", state, epoch=2, zip_format=zip_format)
    got = maple(path)
    assert (got.n_ctx, got.depth) == (2, depth)
    assert len(got.parameters) == 3 + 3 * (depth - 1)
    for name, values in got.parameters.items():
        np.testing.assert_array_equal(values, state[f"prompt_learner.{name}"].float().numpy())


def test_depth_3_at_the_widths_of_vit_b_16_has_1185024_scalars():
    shapes = maple_shapes(n_ctx=2, depth=3, text_width=512, vision_width=768)
    assert sum(int(np.prod(shape)) for shape in shapes.values()) == 1_185_024
    assert len(maple_shapes(n_ctx=2, depth=9, text_width=512, vision_width=768)) == 3 + 8 * 3


def test_the_same_keys_in_safetensors_and_in_a_bare_state_dict_give_the_same_prompts(tmp_path):
    state = maple_state(3, text_width=TEXT, vision_width=VISION)
    dassl = maple(save_dassl(tmp_path / "model.pth.tar-2", state))
    save_file(state, tmp_path / "maple.safetensors")
    torch.save(state, tmp_path / "bare.pth")
    for name in ("maple.safetensors", "bare.pth"):
        other = maple(tmp_path / name)
        assert other.fingerprint == dassl.fingerprint
        assert (other.n_ctx, other.depth) == (dassl.n_ctx, dassl.depth)


def test_the_fingerprint_follows_the_values(tmp_path):
    prints = {coop(save_dassl(tmp_path / str(s), coop_state(4, width=TEXT, seed=s))).fingerprint for s in (1, 2)}
    assert len(prints) == 2
    assert coop(save_dassl(tmp_path / "again", coop_state(4, width=TEXT, seed=1))).fingerprint in prints


class Hostile:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (os.mkdir, (self.marker,))


@pytest.mark.parametrize("place", ["optimizer", "state_dict"])
def test_a_hostile_object_is_not_run_and_the_tensors_still_load(tmp_path, place):
    marker = tmp_path / "ran"
    state = coop_state(4, width=TEXT)
    checkpoint = {"state_dict": dict(state), "optimizer": {}}
    checkpoint[place]["evil"] = Hostile(str(marker))
    torch.save(checkpoint, tmp_path / "f")
    np.testing.assert_array_equal(coop(tmp_path / "f").context, state["ctx"].float().numpy())
    assert not marker.exists()
    torch.load(tmp_path / "f", weights_only=False)
    assert marker.exists()  # the attack is real


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        ({"ctx": torch.zeros(1000, 4, TEXT)}, r"class-specific contexts \(CSC\).*\(1000, 4, 16\).*\(M, 16\)"),
        ({"ctx": torch.zeros(4, 32)}, r"shape \(4, 32\); expected \(M, 16\)"),
        ({"ctx": torch.zeros(TEXT)}, r"shape \(16,\); expected \(M, 16\)"),
        ({"ctx": torch.zeros(0, TEXT)}, "0 context tokens; expected 1 to 73"),
        ({"ctx": torch.zeros(74, TEXT)}, "74 context tokens; expected 1 to 73"),
        ({"ctx": torch.full((4, TEXT), torch.nan)}, "NaN"),
        ({"ctx": torch.zeros(4, TEXT, dtype=torch.int64)}, "no 'ctx'.*no tensors"),
        ({"ctx": [0.0] * TEXT}, "no 'ctx'.*no tensors"),
        ({"token_prefix": torch.zeros(1, 1, TEXT)}, "no 'ctx'.*it has token_prefix"),
        (maple_state(3, text_width=TEXT, vision_width=VISION), "no 'ctx'.*and 9 more.*use maple:"),
    ],
)
def test_a_wrong_coop_checkpoint_says_what_was_found_and_expected(tmp_path, state, complaint):
    path = save_dassl(tmp_path / "f", state)
    with pytest.raises(CheckpointError, match=complaint):
        coop(path)


MAPLE = maple_state(3, text_width=TEXT, vision_width=VISION)


@pytest.mark.parametrize(
    ("state", "complaint"),
    [
        (coop_state(4, width=TEXT), "no 'prompt_learner.ctx'.*use coop:"),
        (
            without(MAPLE, "prompt_learner.proj.bias"),
            "no 'prompt_learner.proj.bias', which a MaPLe .* of depth 3 needs",
        ),
        (without(MAPLE, "prompt_learner.compound_prompts_text.0"), "no 'prompt_learner.compound_prompts_text.0'"),
        (without(MAPLE, "prompt_learner.compound_prompts_text.1"), "no 'prompt_learner.compound_prompts_text.1'"),
        (
            without(MAPLE, "prompt_learner.compound_prompt_projections.1.weight"),
            "no 'prompt_learner.compound_prompt_projections.1.weight'",
        ),
        (
            MAPLE | {"prompt_learner.compound_prompts_text.1": torch.zeros(3, TEXT)},
            r"compound_prompts_text.1 of shape \(3, 16\); expected \(2, 16\)",
        ),
        (MAPLE | {"prompt_learner.ctx": torch.tensor(1.0)}, "0 context tokens"),
        (MAPLE | {"prompt_learner.ctx": torch.zeros(100, 2, TEXT)}, "100 context tokens"),
        (
            MAPLE | {"prompt_learner.proj.bias": torch.full((VISION,), torch.inf)},
            "'prompt_learner.proj.bias'.*infinity",
        ),
    ],
)
def test_a_wrong_maple_checkpoint_says_what_was_found_and_expected(tmp_path, state, complaint):
    path = save_dassl(tmp_path / "f", state)
    with pytest.raises(CheckpointError, match=complaint):
        maple(path)


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ({"text_width": 32}, r"ctx of shape \(2, 16\); expected \(2, 32\) .*text width 32 and vision width 24"),
        ({"vision_width": 32}, r"proj.weight of shape \(24, 16\); expected \(32, 16\)"),
        ({"blocks": 8}, r"prompts for 9 blocks \(depth 9\); expected at most 8"),
        ({"context_length": 5}, "2 context tokens; expected 1 to 1"),
    ],
)
def test_a_maple_checkpoint_for_another_model_is_refused(tmp_path, model, complaint):
    path = save_dassl(tmp_path / "f", maple_state(9, text_width=TEXT, vision_width=VISION))
    with pytest.raises(CheckpointError, match=complaint):
        maple(path, **model)


def test_a_missing_file_and_a_directory_are_told_apart(tmp_path):
    with pytest.raises(ModelNotFoundError, match="no checkpoint at"):
        open_state_dict(tmp_path / "nothing")
    with pytest.raises(CheckpointError, match="is a directory"):
        open_state_dict(tmp_path)


@pytest.mark.parametrize("name", ["f.pth", "f.safetensors"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"this is not a checkpoint at all, only some text")
    with pytest.raises(CheckpointError, match=r"is not a readable"):
        open_state_dict(tmp_path / name)


@pytest.mark.parametrize("value", [[1, 2], torch.ones(3), {"state_dict": 3}])
def test_a_torch_file_without_a_state_dict_is_refused(tmp_path, value):
    torch.save(value, tmp_path / "f")
    with pytest.raises(CheckpointError, match="no dictionary of tensors"):
        open_state_dict(tmp_path / "f")


def test_a_storage_cut_out_of_the_file_is_a_checkpoint_error(tmp_path):
    path = save_dassl(tmp_path / "f", coop_state(4, width=TEXT), zip_format=False)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CheckpointError, match="cut off"):
        coop(path)
