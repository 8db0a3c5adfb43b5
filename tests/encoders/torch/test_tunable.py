from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip")
pytest.importorskip("transformers")

from tests.encoders.torch.tiny_torch import NAMES, write_hf_clip, write_open_clip, write_siglip  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.torch.tunable import (  # noqa: E402
    require_deep_prompt_tunable,
    require_prompt_tunable,
    require_vision_tunable,
)
from viewvote.errors import UnsupportedEncoderError, UsageError  # noqa: E402

pytestmark = pytest.mark.torch
CPU = LoadOptions(device="cpu")
WORDS = "a photo of a"
RESNET = {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "head_width": 64}


@pytest.fixture(scope="module", params=["open_clip", "custom-text", "hf"])
def encoder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "hf":
        write_hf_clip(folder)
        return load_encoder(f"hf:{folder}", CPU)
    write_open_clip(folder, custom_text=request.param == "custom-text")
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


@pytest.fixture(scope="module")
def resnet(tmp_path_factory):
    folder = write_open_clip(tmp_path_factory.mktemp("resnet"), vision_cfg=RESNET)
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


@pytest.fixture(scope="module")
def views():
    return np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)


def noise(*shape, seed=0):
    return 0.3 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Parts:
    """The modules of an encoder that the oracle hooks into, whichever library it comes from."""

    def __init__(self, encoder):
        model = encoder.model
        if hasattr(model, "text_model"):
            self.tokens, self.text_blocks = model.text_model.embeddings.token_embedding, model.text_model.encoder.layers
            self.vision_norm, self.vision_blocks = model.vision_model.pre_layrnorm, model.vision_model.encoder.layers
            self.texts = lambda ids: model.get_text_features(input_ids=ids).pooler_output
            self.images = lambda pixels: model.get_image_features(pixel_values=pixels).pooler_output
        else:
            text = getattr(model, "text", model)
            self.tokens, self.text_blocks = text.token_embedding, text.transformer.resblocks
            self.vision_norm, self.vision_blocks = model.visual.ln_pre, model.visual.transformer.resblocks
            self.texts, self.images = model.encode_text, model.encode_image


@contextmanager
def hooked(*handles):
    with ExitStack() as stack:
        for handle in handles:
            stack.callback(handle.remove)
        yield


def put(x, prompts, start):
    """A copy of x with the rows of `prompts` at positions start, start + 1, ..."""
    x = x.clone()
    x[:, start : start + len(prompts)] = prompts
    return x


def naive_text_features(encoder, prompts, context, deep=()):
    """The library's own text tower at full length, with the context written over its token embeddings."""
    parts = Parts(encoder)
    handles = [parts.tokens.register_forward_hook(lambda _m, _a, out: put(out, context, 1))]
    for block, rows in zip(parts.text_blocks[1:], deep, strict=False):
        handles.append(block.register_forward_pre_hook(lambda _m, args, rows=rows: (put(args[0], rows, 1), *args[1:])))
    with hooked(*handles):
        raw = parts.texts(encoder.token_ids(prompts))
    return raw / raw.norm(dim=-1, keepdim=True)


def naive_image_features(encoder, views, prompts, deep=()):
    """The library's own vision tower with prompts appended before its first norm, and what each block was given."""
    parts, seen = Parts(encoder), []

    def append(_module, args):
        return (torch.cat([args[0], prompts.expand(len(args[0]), -1, -1)], dim=1),)

    handles = [parts.vision_norm.register_forward_pre_hook(append)]
    for block, rows in zip(parts.vision_blocks[1:], deep, strict=False):
        handles.append(
            block.register_forward_pre_hook(
                lambda _m, args, rows=rows: (put(args[0], rows, args[0].shape[1] - len(rows)), *args[1:])
            )
        )
    look = [block.register_forward_pre_hook(lambda _m, args: seen.append(args[0])) for block in parts.vision_blocks]
    with hooked(*handles, *look):
        raw = parts.images(encoder.pixels(views))
    return raw / raw.norm(dim=-1, keepdim=True), seen


def test_the_words_own_embeddings_give_the_features_of_the_plain_prompt(encoder):
    context = encoder.initial_context(WORDS)
    expected = encoder.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    assert context.shape == (4, encoder.text_width)
    assert context.dtype == torch.float32
    for placeholder in (None, WORDS):
        features = encoder.text_features_from_context(context, NAMES, placeholder=placeholder)
        np.testing.assert_allclose(features.numpy(), expected, atol=2e-6)


def test_a_free_context_and_its_gradient_are_those_of_the_naive_tower(encoder):
    context = noise(4, encoder.text_width).requires_grad_()
    weights = noise(len(NAMES), encoder.dim, seed=1)
    ours = encoder.text_features_from_context(context, NAMES, chunk=3)
    (gradient,) = torch.autograd.grad((ours * weights).sum(), context)
    prompts = [f"X X X X {name.replace('_', ' ')}." for name in NAMES]
    naive = naive_text_features(encoder, prompts, context)
    (expected,) = torch.autograd.grad((naive * weights).sum(), context)
    torch.testing.assert_close(ours, naive, atol=2e-6, rtol=0)
    torch.testing.assert_close(gradient, expected, atol=2e-5, rtol=1e-4)
    assert gradient.abs().max() > 1e-3


def test_words_beyond_the_context_keep_their_own_embeddings(encoder):
    context = noise(2, encoder.text_width)
    ours = encoder.text_features_from_context(context, NAMES, placeholder=WORDS)
    prompts = [f"a photo of a {name.replace('_', ' ')}." for name in NAMES]
    torch.testing.assert_close(ours, naive_text_features(encoder, prompts, context), atol=2e-6, rtol=0)


@pytest.mark.parametrize("depth", [1, 2])
def test_deep_text_prompts_replace_the_context_before_the_next_blocks(encoder, depth):
    context = noise(2, encoder.text_width)
    deep = [noise(2, encoder.text_width, seed=b).requires_grad_() for b in range(1, depth + 1)]
    weights = noise(len(NAMES), encoder.dim, seed=9)
    ours = encoder.text_features_from_context(context, NAMES, placeholder=WORDS, deep=deep)
    prompts = [f"a photo of a {name.replace('_', ' ')}." for name in NAMES]
    naive = naive_text_features(encoder, prompts, context, deep)
    torch.testing.assert_close(ours, naive, atol=2e-6, rtol=0)
    for mine, theirs in zip(
        torch.autograd.grad((ours * weights).sum(), deep),
        torch.autograd.grad((naive * weights).sum(), deep),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_vision_prompts_are_appended_and_replaced_before_the_next_blocks(encoder, views, depth):
    prompts = noise(2, encoder.vision_width).requires_grad_()
    deep = [noise(2, encoder.vision_width, seed=b) for b in range(1, depth + 1)]
    ours, taps = encoder.image_features_with_prompts(views, prompts, deep=deep, taps=2)
    naive, seen = naive_image_features(encoder, views, prompts, deep)
    torch.testing.assert_close(ours, naive, atol=2e-6, rtol=0)
    assert len(taps) == 2
    for tap, given in zip(taps, seen, strict=False):
        assert tap.shape == (3, 1 + 16 + 2, encoder.vision_width)
        torch.testing.assert_close(tap, given, atol=2e-6, rtol=0)
    (gradient,) = torch.autograd.grad(ours[:, 0].sum(), prompts)
    assert gradient.abs().max() > 0


def test_without_vision_prompts_the_features_are_the_plain_ones(encoder, views):
    none = torch.zeros(0, encoder.vision_width)
    features, taps = encoder.image_features_with_prompts(views, none)
    np.testing.assert_allclose(features.numpy(), encoder.encode_images(views), atol=2e-6)
    assert taps == ()


def test_chunks_change_nothing(encoder):
    context, names = noise(4, encoder.text_width), [f"thing {i}" for i in range(20)]
    small, large = (encoder.text_features_from_context(context, names, chunk=chunk) for chunk in (3, 64))
    torch.testing.assert_close(small, large, atol=2e-6, rtol=0)


def test_new_class_names_are_not_answered_with_the_old_ones(encoder):
    context = noise(4, encoder.text_width)
    first = encoder.text_features_from_context(context, ["cat", "dog"])
    swapped = encoder.text_features_from_context(context, ["dog", "cat"])
    torch.testing.assert_close(first.flip(0), swapped, atol=2e-6, rtol=0)


def test_the_graph_holds_no_activations_of_the_text_tower(encoder):
    """What a forward pass keeps for the backward pass is the features and not the tower's activations."""
    names, kept = [f"thing {i}" for i in range(40)], []

    def count(forward):
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
            forward(noise(4, encoder.text_width).requires_grad_())
        return sum(kept)

    chunked = count(lambda context: encoder.text_features_from_context(context, names, chunk=8))
    plain = count(
        lambda context: encoder._forward_prompts(encoder._prompt_tokens(tuple(names), "X X X X", 4), context, ())
    )
    assert chunked < plain / 50


def test_image_features_can_stand_in_a_graph(encoder, views):
    context = encoder.initial_context(WORDS).requires_grad_()
    images = encoder.image_features(views)
    logits = images @ encoder.text_features_from_context(context, NAMES).T
    logits.sum().backward()
    assert not images.requires_grad
    assert context.grad.abs().max() > 0
    np.testing.assert_array_equal(images.numpy(), encoder.encode_images(views))


def test_half_precision_still_gives_a_float32_gradient(tmp_path):
    folder = write_open_clip(tmp_path)
    full, half = (
        load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", dtype=d)) for d in ("fp32", "bf16")
    )
    gradients = []
    for encoder in (full, half):
        context = encoder.initial_context(WORDS).requires_grad_()
        features = encoder.text_features_from_context(context, NAMES)
        assert features.dtype == torch.float32
        features[:, 0].sum().backward()
        gradients.append(context.grad)
    cosine = torch.nn.functional.cosine_similarity(gradients[0].flatten(), gradients[1].flatten(), dim=0)
    assert cosine > 0.99


def test_a_tuned_vision_tower_is_restored_bit_for_bit(encoder, views):
    before, fingerprint = encoder.encode_images(views), encoder.fingerprint
    bits = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    snapshot = encoder.snapshot_vision()
    parameters = encoder.vision_parameters()
    for parameter in parameters:
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(parameters, lr=1e-2)
    for _ in range(2):
        optimizer.zero_grad()
        encoder.image_features_with_grad(views)[:, 0].sum().backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in parameters)
    assert np.abs(encoder.encode_images(views) - before).max() > 1e-2
    encoder.restore_vision(snapshot)
    np.testing.assert_array_equal(encoder.encode_images(views), before)
    assert encoder.fingerprint == fingerprint
    assert all(torch.equal(value, bits[name]) for name, value in encoder.model.state_dict().items())
    assert all(parameter.grad is None and not parameter.requires_grad for parameter in parameters)


def test_running_statistics_are_restored_too(resnet, views):
    before, snapshot = resnet.encode_images(views), resnet.snapshot_vision()
    resnet.model.visual.bn1.running_mean.add_(1)
    assert np.abs(resnet.encode_images(views) - before).max() > 1e-3
    resnet.restore_vision(snapshot)
    np.testing.assert_array_equal(resnet.encode_images(views), before)


def test_the_vision_parameters_are_the_vision_towers_and_no_others(encoder):
    tuned = {id(p) for p in encoder.vision_parameters()}
    names = [name for name, p in encoder.model.named_parameters() if id(p) in tuned]
    assert all(name.startswith(("visual.", "vision_model.", "visual_projection.")) for name in names)
    rest = [name for name, p in encoder.model.named_parameters() if id(p) not in tuned]
    assert not any("vis" in name for name in rest)


def test_a_snapshot_is_a_copy(encoder):
    snapshot = encoder.snapshot_vision()
    weight = encoder.vision_parameters()[0]
    with torch.no_grad():
        weight.add_(1)
    assert not any(torch.equal(weight, value) for value in snapshot.values() if value.shape == weight.shape)
    encoder.restore_vision(snapshot)


def test_half_precision_weights_cannot_be_tuned(tmp_path):
    folder = write_open_clip(tmp_path)
    encoder = load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", dtype="bf16"))
    with pytest.raises(UnsupportedEncoderError, match='Load the model with dtype "fp32"'):
        encoder.vision_parameters()


def test_encoders_with_the_ability_pass_through(encoder, resnet):
    assert require_prompt_tunable(encoder) is encoder
    assert require_deep_prompt_tunable(encoder) is encoder
    assert require_vision_tunable(encoder) is encoder
    assert require_prompt_tunable(resnet) is resnet


def test_encoders_without_the_ability_are_refused_by_name(resnet, tmp_path):
    write_siglip(tmp_path)
    siglip, toy = load_encoder(f"hf:{tmp_path}", CPU), load_encoder("toy")
    for encoder in (siglip, toy):
        with pytest.raises(UnsupportedEncoderError, match=rf"tpt tunes context .* {encoder.model_id!r} does not"):
            require_prompt_tunable(encoder, method="tpt")
    for encoder in (siglip, toy, resnet):
        with pytest.raises(UnsupportedEncoderError, match="puts prompts into the blocks of both towers"):
            require_deep_prompt_tunable(encoder)
    with pytest.raises(UnsupportedEncoderError, match="rlcf tunes the weights of the vision tower"):
        require_vision_tunable(toy, method="rlcf")


def test_the_embedded_model_is_referred_to_its_twin_in_torch():
    with pytest.raises(UnsupportedEncoderError, match=r"'pocket' does not allow\. Use pocket-torch, which is the same"):
        require_prompt_tunable(load_encoder("pocket"), method="tpt")


def test_contexts_of_another_shape_are_refused(encoder):
    width = encoder.text_width
    for context, deep in [
        (noise(4, width + 1), ()),
        (noise(0, width), ()),
        (noise(4), ()),
        (noise(2, width), (noise(3, width),)),
    ]:
        with pytest.raises(UsageError, match=rf"expects contexts of shape \(context, {width}\)"):
            encoder.text_features_from_context(context, NAMES, deep=deep)


def test_vision_prompts_of_another_shape_are_refused(encoder, views):
    with pytest.raises(UsageError, match="expects vision prompts of shape"):
        encoder.image_features_with_prompts(views, noise(2, encoder.vision_width + 1))


def test_a_context_longer_than_its_placeholder_is_refused(encoder):
    with pytest.raises(UsageError, match=r"'a photo' has 2 tokens, fewer than the context's 4 rows"):
        encoder.text_features_from_context(noise(4, encoder.text_width), NAMES, placeholder="a photo")


def test_a_context_longer_than_the_tower_is_refused(encoder):
    with pytest.raises(UsageError, match=r"has 75 tokens, fewer than the context's 80 rows.* at most 75"):
        encoder.text_features_from_context(noise(80, encoder.text_width), NAMES)


def test_an_empty_initial_context_is_refused(encoder):
    with pytest.raises(UsageError, match="the initial context '' has no words"):
        encoder.initial_context("")
