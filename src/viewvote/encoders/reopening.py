"""Open models in pickles and copies: not their weights, but how to load them again."""

import pickle
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ..errors import ModelError, UsageError
from .base import Encoder, LoadOptions
from .probe import probe, same_probe

_ORIGINS: WeakKeyDictionary[Encoder, tuple[str, LoadOptions]] = WeakKeyDictionary()


def remember(encoder: Encoder, model_id: str, options: LoadOptions) -> Encoder:
    """The encoder, of which is known from now on how it was loaded; not of classes that cannot be looked up."""
    try:
        _ORIGINS[encoder] = (model_id, options)
    except TypeError:  # no hash, or no weak references
        return encoder
    return encoder


@dataclass(frozen=True)
class ClosedModel:
    """A model id with the options it was loaded with, and what the model loaded from it must be."""

    model_id: str
    options: LoadOptions
    fingerprint: str
    probe: tuple[float, ...]

    def open(self) -> Encoder:
        """The encoder, loaded again; ModelError where it is another model by now."""
        from . import load_encoder

        encoder = load_encoder(self.model_id, self.options)
        if encoder.fingerprint != self.fingerprint or not same_probe(probe(encoder), self.probe):
            raise ModelError(
                f"{self.model_id!r} is another model here than the one that was pickled or copied: its weights, its "
                "tokenizer or its precision differ. Make the classifier anew."
            )
        return encoder


@dataclass(frozen=True)
class PickledModel:
    """An encoder that was given as an object, as its own pickle."""

    data: bytes

    def open(self) -> Encoder:
        """The encoder."""
        encoder: Encoder = pickle.loads(self.data)  # noqa: S301 - inside of a pickle that is being read already
        return encoder


def close(encoder: Encoder) -> ClosedModel | PickledModel:
    """What stands for the encoder in a pickle: its id, or where it was not loaded by one, its own pickle."""
    try:
        origin = _ORIGINS.get(encoder)
    except TypeError:
        origin = None
    if origin is not None:
        model_id, options = origin
        return ClosedModel(model_id, options, encoder.fingerprint, tuple(probe(encoder)))
    try:
        return PickledModel(pickle.dumps(encoder))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise UsageError(
            f"the model {encoder.model_id!r} was given as an object of type {type(encoder).__name__}, which does not "
            f"pickle ({error}). Give the classifier a model id: then the copy loads the model again."
        ) from error
