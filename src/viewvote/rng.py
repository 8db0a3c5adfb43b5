"""Randomness as a function of (seed, dataset, sample key): never of order, workers, batch size or machine."""

from hashlib import blake2b

import numpy as np

from .arrays import Float64

_TO_UNIT = 2.0**-53


class SampleRng:
    """Uniform numbers of one sample, from the counter-based Philox generator.

    Only the raw bit stream of numpy is used: it is fixed for ever, while numpy's distributions may change between
    releases. The k-th number is the same however many are drawn before or after.
    """

    def __init__(self, key: bytes) -> None:
        words = np.frombuffer(key, dtype="<u8")  # (2,)
        self._bits = np.random.Philox(key=words)

    def uniform(self, *shape: int) -> Float64:
        """The next numbers in [0, 1), shaped `shape`."""
        raw = self._bits.random_raw(int(np.prod(shape, dtype=np.int64)))
        unit: Float64 = (raw >> np.uint64(11)).astype(np.float64) * _TO_UNIT
        return unit.reshape(shape)


def sample_rng(*, seed: int, dataset: str, key: str, stream: str = "views") -> SampleRng:
    """The generator of one sample; `stream` separates uses (views, tie breaking, ...) that must not share numbers."""
    digest = blake2b(digest_size=16)
    for part in (str(int(seed)), dataset, key, stream):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)  # length first, so ("ab","c") is not ("a","bc")
    return SampleRng(digest.digest())


def content_key(data: bytes | memoryview) -> str:
    """The sample key of a loose image: a hash of its bytes, so a renamed photo keeps its views."""
    return blake2b(data, digest_size=16).hexdigest()
