"""An open_clip vision transformer read at its class token alone.

The last block need not compute what the other tokens become: they serve as keys and values and are never read again.
Queries, the output projection and the MLP of 196 of 197 tokens fall away, 7% of ViT-B/16's products.
"""

from collections.abc import Callable
from typing import Any, TypeGuard, cast

from open_clip.transformer import ResidualAttentionBlock, VisionTransformer
from torch import Tensor, nn
from torch.nn import functional


def reads_class_token(visual: nn.Module) -> TypeGuard[VisionTransformer]:
    """Whether the tower is the plain kind whose feature is its class token after ordinary blocks."""
    tower: Any = visual
    return (
        isinstance(visual, VisionTransformer)
        and tower.attn_pool is None
        and tower.pool_type == "tok"
        and not tower.output_tokens
        and tower.transformer.batch_first
        and all(type(block) is ResidualAttentionBlock for block in tower.transformer.resblocks)
    )


Attend = Callable[[Any, Tensor, Tensor], Tensor]
"""What a block's queries (views, queries, width) find among its tokens (views, tokens, width)."""


def own_attention(block: Any, queries: Tensor, tokens: Tensor) -> Tensor:
    """By torch's module, which has fast code of its own."""
    return cast(Tensor, block.attention(queries, tokens, tokens))


def written_out_attention(block: Any, queries: Tensor, tokens: Tensor) -> Tensor:
    """In plain products, for graphs: torch's module exports as a chain of copies in another order of axes."""
    attn = block.attn
    width, heads = attn.embed_dim, attn.num_heads
    scale = (width // heads) ** -0.5
    to_query, to_key, to_value = attn.in_proj_weight.chunk(3)
    query_bias, key_bias, value_bias = attn.in_proj_bias.chunk(3)

    def per_head(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], -1, heads, width // heads).transpose(1, 2)  # (views, heads, tokens, head's width)

    query = per_head(functional.linear(queries, to_query * scale, query_bias * scale))
    key = per_head(functional.linear(tokens, to_key, key_bias))
    value = per_head(functional.linear(tokens, to_value, value_bias))
    found = (query @ key.transpose(-2, -1)).softmax(dim=-1) @ value
    return cast(Tensor, attn.out_proj(found.transpose(1, 2).flatten(2)))


def class_token_features(visual: nn.Module, pixels: Tensor, attend: Attend = own_attention) -> Tensor:
    """Raw features (views, dim) of such a tower: what its own forward gives, but for the order of rounding."""
    tower: Any = visual
    x = tower._embeds(pixels)  # (views, tokens, width)
    for block in tower.transformer.resblocks:
        tokens = queries = block.ln_1(x)
        if block is tower.transformer.resblocks[-1]:
            queries, x = tokens[:, :1], x[:, :1]
        x = x + block.ls_1(attend(block, queries, tokens))
        x = x + block.ls_2(block.mlp(block.ln_2(x)))
    features = tower.ln_post(x[:, 0])
    return cast(Tensor, features if tower.proj is None else features @ tower.proj)
