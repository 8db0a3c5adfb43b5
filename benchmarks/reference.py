"""ZERO the way its authors run it, written anew: the yardstick of `benchmarks.endtoend`.

One image at a time: decode it whole, draw 63 crops one after the other with torchvision from a global generator,
normalise each, push all 64 through an eager float32 torch tower in one batch, then rank, keep, sum and break ties.
Two things are kinder than their code, so that ratios are not flattered: ties are looked up at once instead of in a
Python loop over the classes, and the last resort picks among the tied classes (theirs, by a slip, picks outside them).
"""

import io
from collections.abc import Callable
from dataclasses import dataclass

import torch
from PIL import Image
from torch import Tensor
from torchvision import transforms
from torchvision.transforms import InterpolationMode

from viewvote.images.spec import ImageSpec


@dataclass(frozen=True)
class Reference:
    """A classifier of one image: its tower in eager torch, unit class embeddings (classes, dim), and their settings."""

    tower: Callable[[Tensor], Tensor]
    text: Tensor
    spec: ImageSpec
    logit_scale: float
    n_views: int = 64
    keep: float = 0.3

    def __call__(self, data: bytes) -> int:
        """The class of a photo's encoded bytes."""
        with torch.no_grad():
            return decide(self.cosines(self.draw(data)), logit_scale=self.logit_scale, keep=self.keep)

    def draw(self, data: bytes) -> Tensor:
        """Normalised views (views, 3, size, size): the resized centre, then random crops of the whole image."""
        image = Image.open(io.BytesIO(data)).convert("RGB")
        size = self.spec.size
        finish = [transforms.ToTensor(), transforms.Normalize(self.spec.mean, self.spec.std)]
        whole = [transforms.Resize(size, interpolation=InterpolationMode.BICUBIC), transforms.CenterCrop(size)]
        source = transforms.Compose([*whole, *finish])
        crop = transforms.Compose([transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(), *finish])
        return torch.stack([source(image), *(crop(image) for _ in range(self.n_views - 1))])

    def cosines(self, views: Tensor) -> Tensor:
        """Cosines (views, classes) between the views and the class embeddings."""
        features = self.tower(views)
        return (features / features.norm(dim=-1, keepdim=True)) @ self.text.T


def decide(cosines: Tensor, *, logit_scale: float, keep: float = 0.3) -> int:
    """The class that the confident views choose from cosines (views, classes); their dtype sets how sharp votes are."""
    eps = torch.finfo(cosines.dtype).eps
    cosines = cosines.float()
    p = (cosines * logit_scale).softmax(dim=1)
    entropy = -(p * p.log()).sum(dim=1)
    order = entropy.argsort()
    k = int(len(order) * keep)
    p_bar = (cosines[order[:k]] / eps).softmax(dim=1).sum(dim=0)
    tied = (p_bar == p_bar.max()).nonzero().ravel().tolist()
    if len(tied) == 1:
        return tied[0]
    for view in order[k:]:
        label = int(cosines[view].argmax())
        if label in tied:
            return label
    return tied[int(cosines[order[k]][tied].argmax())]
