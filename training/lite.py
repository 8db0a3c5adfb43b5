"""EfficientNet-Lite as a torch module with its batch norms folded into the convolutions."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

# (repeats, kernel, stride, expansion, channels in, channels out) of the seven stages of EfficientNet-B0
STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)
WIDTH_DEPTH = {"lite0": (1.0, 1.0), "lite1": (1.0, 1.1), "lite2": (1.1, 1.2)}
FEATURES = 1280
EPSILON = 1e-3
MEAN, STD = 127 / 255, 128 / 255


def round_channels(channels: int, width: float) -> int:
    """Channels scaled by the width factor, rounded to a multiple of eight, never down by more than a tenth."""
    scaled = channels * width
    rounded = max(8, int(scaled + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * scaled else rounded


class SameConv(nn.Conv2d):
    """A convolution padded as TensorFlow pads it ('SAME': the odd pixel goes to the right and the bottom)."""

    def forward(self, x: Tensor) -> Tensor:
        """The convolved map, of size ceil(input / stride)."""
        pads = []
        for size in (x.shape[-1], x.shape[-2]):
            kernel, stride = self.kernel_size[0], self.stride[0]
            total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
        return self._conv_forward(functional.pad(x, pads) if any(pads) else x, self.weight, self.bias)


class Block(nn.Module):
    """An inverted residual block: expand, depthwise, project, with ReLU6 and no squeeze-and-excitation."""

    def __init__(self, kernel: int, stride: int, expansion: int, inputs: int, outputs: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.expand = SameConv(inputs, hidden, 1) if expansion != 1 else None
        self.depthwise = SameConv(hidden, hidden, kernel, stride, groups=hidden)
        self.project = SameConv(hidden, outputs, 1)
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """The block's output map."""
        y = x if self.expand is None else functional.relu6(self.expand(x))
        y = self.project(functional.relu6(self.depthwise(y)))
        return x + y if self.skip else y


class Lite(nn.Module):
    """The trunk (pooled features of 1280 numbers) and, beside it, the supervised ImageNet classifier."""

    def __init__(self, name: str = "lite0") -> None:
        super().__init__()
        width, depth = WIDTH_DEPTH[name]
        self.stem = SameConv(3, 32, 3, 2)
        blocks = []
        for stage, (repeats, kernel, stride, expansion, inputs, outputs) in enumerate(STAGES):
            fixed = stage in (0, len(STAGES) - 1)  # the lite family scales neither the first nor the last stage
            repeats = repeats if fixed else math.ceil(repeats * depth)
            inputs = 32 if stage == 0 else round_channels(inputs, width)
            outputs = round_channels(outputs, width)
            for i in range(repeats):
                first = i == 0
                blocks.append(Block(kernel, stride if first else 1, expansion, inputs if first else outputs, outputs))
        self.blocks = nn.ModuleList(blocks)
        self.head = SameConv(outputs, FEATURES, 1)
        self.classifier = nn.Linear(FEATURES, 1000)

    def forward(self, x: Tensor) -> Tensor:
        """Pooled features (batch, 1280) of normalised images."""
        x = functional.relu6(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return functional.relu6(self.head(x)).mean((2, 3))


def load_lite(path: Path, name: str = "lite0") -> Lite:
    """The network with the weights of the package's checkpoint, batch norms folded."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    net = Lite(name)

    def fold(conv: nn.Conv2d, key: str, norm: str) -> None:
        gain = state[f"{norm}.weight"] / torch.sqrt(state[f"{norm}.running_var"] + EPSILON)
        conv.weight.data = state[f"{key}.weight"] * gain[:, None, None, None]
        assert conv.bias is not None
        conv.bias.data = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * gain

    fold(net.stem, "_conv_stem", "_bn0")
    for i, block in enumerate(net.blocks):
        prefix = f"_blocks.{i}."
        if block.expand is not None:
            fold(block.expand, f"{prefix}_expand_conv", f"{prefix}_bn0")
        fold(block.depthwise, f"{prefix}_depthwise_conv", f"{prefix}_bn1")
        fold(block.project, f"{prefix}_project_conv", f"{prefix}_bn2")
    fold(net.head, "_conv_head", "_bn1")
    net.classifier.weight.data = state["_fc.weight"]
    net.classifier.bias.data = state["_fc.bias"]
    return net.eval()
