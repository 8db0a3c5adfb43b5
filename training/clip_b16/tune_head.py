"""Step 3: tune the text side by a contrastive loss on the cached views (LiT: the image tower is locked), and calibrate.

What moves are the places of the centres, which other texts follow by the kernel ridge regression of the closed form,
and the linear part. The loss has five terms: captions and label texts against the views of a batch, both ways; the
names of the classes against each labelled view; other names against each captioned view, where those that its captions
mention are right; the similarities that names have in CLIP ViT-B/32's text space; and a pull towards the closed form,
which keeps names that no photograph shows where they were.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from training.clip_b16.fit_head import CAPTION_SHARE, Head, Split, Views, arguments, clip_vectors, mentions, parsed
from training.clip_b16.label_texts import CLASSES, Texts, draw
from training.clip_b16.losses import contrastive, soft_cross_entropy, structure
from training.clip_b16.rehearsal import Rehearsal
from training.fit_joint import GAMMA, TextSystem
from training.photos import Array, list_photos

SCALE = 100.0  # CLIP's own
BATCH, STEPS, RATE, REPORT = 512, 100, 2e-3, 10
SHARPNESS = 40.0  # of the softmax while tuning; sharper ones moved places more and held-out photographs gained less
NAMES = 512  # whose similarities are compared in a step
PULL = 200.0  # with 20 and less, names that no photograph shows drift away


class Tuned(torch.nn.Module):
    """The head with its places as parameters."""

    def __init__(self, head: Head, places: Array) -> None:
        super().__init__()
        self.places, self.skip, self.shift = (
            torch.nn.Parameter(torch.from_numpy(np.array(x, np.float32))) for x in (places, head.skip, head.shift)
        )
        self.axes = torch.from_numpy(head.axes)

    def forward(self, sentences: Array, smoother: Array) -> Tensor:
        """`Head.directions` of texts whose places are the smoother's."""
        near = normalize(torch.from_numpy(smoother) @ self.places, dim=1)
        told = normalize(torch.from_numpy(sentences) @ self.skip + self.shift, dim=1)
        both = near + CAPTION_SHARE * told
        return normalize(both - both @ self.axes.T @ self.axes, dim=1)


class Tuning:
    """What tuning needs besides the views: texts, and the vectors of names in CLIP ViT-B/32's text space."""

    def __init__(self, texts: Texts, system: TextSystem, names: Array, mentioned: Array) -> None:
        self.texts, self.system, self.names, self.mentioned = texts, system, torch.from_numpy(names), mentioned

    def run(self, head: Head, places: Array, views: Views, steps: int, watch: Callable[[str], None]) -> Head:
        """The head after `steps` batches of the views."""
        rng = np.random.default_rng(0)
        model, start = Tuned(head, places), torch.from_numpy(places)
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
        shown = np.unique(views.labels[views.labels >= 0])
        shares = views.shares()[:, shown]
        shares /= shares.sum(1, keepdims=True)
        for step in range(steps):
            batch = rng.choice(len(views.photo), BATCH, replace=False)
            loss = self._loss(model, views, batch, shown, torch.from_numpy(shares[batch]), rng)
            loss = loss + PULL * (model.places - start).square().sum(1).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            if (step + 1) % REPORT == 0:
                watch(f"step {step + 1} of {steps}, loss {loss.item():.3f}")
        tuned = (p.detach().numpy() for p in (model.skip, model.shift))
        return Head(head.centres, self.system.mix(model.places.detach().numpy()), *tuned, head.axes)

    def _loss(
        self, model: Tuned, views: Views, batch: Array, shown: Array, shares: Tensor, rng: np.random.Generator
    ) -> Tensor:
        """Of a batch of views, each with a text drawn for it."""
        texts, photo, labels = self.texts, views.photo[batch], views.labels[batch]
        labelled = labels >= 0
        said = np.array([texts.of_view(*pair, rng) for pair in zip(photo, labels, strict=True)])
        rows = np.concatenate([said, [draw(texts.names[c], rng) for c in shown], texts.known])
        own, classes, named = model(texts.sentences[rows], texts.smoother[rows]).split(
            [BATCH, len(shown), len(texts.known)]
        )
        images = SHARPNESS * torch.from_numpy(views.features[batch])
        known = labelled[:, None] == labelled  # captions tell of their own kind of photograph, labels of theirs
        holds = known & ((photo[:, None] == photo) | (labelled[:, None] & texts.holds[said][:, labels].T))
        loss = contrastive(images @ own.T, torch.from_numpy(holds).float(), torch.from_numpy(known))
        loss = loss + soft_cross_entropy(images[labelled] @ classes.T, shares[labelled])
        mentioned = self.mentioned[photo, CLASSES:]
        mentioning = mentioned.any(1)
        mentioned = torch.from_numpy(mentioned[mentioning] / mentioned[mentioning].sum(1, keepdims=True))
        loss = loss + soft_cross_entropy(images[mentioning] @ named[CLASSES:].T, mentioned)
        some = rng.choice(len(self.names), NAMES, replace=False)
        return loss + structure(named[some], self.names[some])


def load_fit(path: Path) -> tuple[Head, Array]:
    """A head of step 2, and the places of its centres."""
    stored = dict(np.load(path))
    places = stored.pop("places")
    return Head(**stored), places


def say(line: str) -> None:
    """A line at once."""
    print(line, flush=True)


def main() -> None:
    """Write `head.npz`; all is measured on what was held out, then done again with every photograph."""
    parser = arguments(__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    args = parsed(parser, "rehearsal.npz", "closed.npz")
    if args.steps < 1:
        parser.error(f"--steps {args.steps}: at least 1 is needed")
    photos = list_photos(args.data)
    labels = np.array([photo.label for photo in photos])
    views, system = Views.load(args.cache, labels, args.views), TextSystem.of(args.cache)
    texts, split = Texts.load(args.cache, system, len(photos)), Split.of(labels)
    mentioned = mentions(args.cache, photos, args.wordnet)
    tuning = Tuning(texts, system, np.concatenate(clip_vectors(args.data)), mentioned)
    rehearsal = Rehearsal.of(views, split, texts, mentioned)

    head, places = load_fit(args.cache / "rehearsal.npz")
    say(f"closed form: {rehearsal.report(head)}")
    head = tuning.run(head, places, views.of(split.rest), args.steps, say)
    say(f"tuned: {rehearsal.report(head)}")
    sharpness = rehearsal.sharpness(head)
    pull = float(np.sqrt((SCALE / sharpness) ** 2 - 1))  # the common part, which dilutes scale 100 to this sharpness

    head = tuning.run(*load_fit(args.cache / "closed.npz"), views, args.steps, say)
    np.savez(args.cache / "head.npz", **vars(head), gamma=GAMMA, share=CAPTION_SHARE, pull=pull, scale=SCALE)
    say(f"{len(views.photo)} views, {len(head.centres)} centres, sharpness {sharpness}, pull {pull:.2f}")


if __name__ == "__main__":
    main()
