"""The short cut through the last block gives the tower's own features, and stays away from other kinds of towers."""

import pytest

torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip")

from open_clip.transformer import VisionTransformer  # noqa: E402

from viewvote.encoders.torch.class_token import (  # noqa: E402
    class_token_features,
    own_attention,
    reads_class_token,
    written_out_attention,
)


def tower(**changes):
    torch.manual_seed(0)
    sizes = {"image_size": 32, "patch_size": 8, "width": 16, "layers": 3, "heads": 2, "mlp_ratio": 4.0}
    visual = VisionTransformer(**sizes, output_dim=8, **changes).eval().requires_grad_(False)
    for block in visual.transformer.resblocks:  # a fresh tower has biases of zero and scales of one
        for parameter in block.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return visual


@pytest.mark.parametrize("attend", [own_attention, written_out_attention])
@pytest.mark.parametrize(
    "changes", [{}, {"ls_init_value": 0.1}, {"final_ln_after_pool": True}, {"no_ln_pre": True}, {"pool_type": "tok"}]
)
def test_the_class_token_alone_gives_the_features_of_the_whole_tower(changes, attend):
    visual = tower(**changes)
    pixels = torch.randn(5, 3, 32, 32)
    assert reads_class_token(visual)
    torch.testing.assert_close(class_token_features(visual, pixels, attend), visual(pixels), rtol=1e-4, atol=1e-5)


def test_a_tower_without_a_projection_gives_its_wide_features():
    visual = tower()
    visual.proj = None
    pixels = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(class_token_features(visual, pixels), visual(pixels), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", [{"pool_type": "avg"}, {"output_tokens": True}, {"attentional_pool": True}])
def test_towers_that_read_more_than_the_class_token_are_left_alone(changes):
    assert not reads_class_token(tower(**changes))


def test_a_tower_with_blocks_of_another_kind_is_left_alone():
    visual = tower()
    visual.transformer.resblocks[-1] = torch.nn.Identity()
    assert not reads_class_token(visual)
    assert not reads_class_token(torch.nn.Identity())
