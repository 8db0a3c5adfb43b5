"""What a service is started with, and what one request may ask of it."""

import json
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from typing import Any

from ..encoders.base import Dtype, LoadOptions, Precision, Runtime
from ..errors import UsageError
from ..labels.texts import Labels

LOOPBACK_NAMES = frozenset(["localhost", "127.0.0.1", "::1"])


@dataclass(frozen=True)
class Limits:
    """The most that one request may bring or ask for.

    bytes           of a request's body, whatever its shape
    pixels          of one image, from its header: more are refused before any is decoded
    decode_memory   bytes that all images being decoded take together
    decode_seconds  after which the decoder of an image is stopped
    texts           prompts of a request: labels times templates
    label_chars     characters of one label or template
    """

    bytes: int = 32_000_000
    pixels: int = 40_000_000
    decode_memory: int = 1_000_000_000
    decode_seconds: float = 20.0
    images: int = 32
    labels: int = 1000
    templates: int = 100
    texts: int = 8000
    label_chars: int = 300
    views: int = 64

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value < 1:
                raise UsageError(f"the limit of {name.replace('_', ' ')} must be at least 1; got {value}.")


@dataclass(frozen=True)
class Settings:
    """How a service is set up; `labels`, `method`, `views` and `templates` are for requests that bring none.

    labels         a list, or a mapping from each label to texts of its own
    context        a file of `viewvote context`: requests with its labels and templates are answered with it
    calibration    a file of `viewvote calibrate`, for requests of its method; others get what the model ships with
    device, dtype, runtime, precision  how the models are loaded (`LoadOptions`)
    max_queue      images accepted and not yet answered
    timeout        seconds from a request's admission to its answer
    body_seconds   seconds within which the body of a request must arrive
    feature_bytes  memory for the features of the last photographs; 0 keeps none
    head_bytes     memory for the text heads of the last label sets
    """

    model: str = "pocket"
    teacher: str | None = None
    labels: Labels | None = None
    method: str = "anchored"
    views: int | str = "auto"
    templates: str | None = None
    context: str | None = None
    calibration: str | None = None
    device: str = "auto"
    dtype: Dtype = "fp32"
    runtime: Runtime = "auto"
    precision: Precision = "auto"
    host: str = "127.0.0.1"
    port: int = 8008
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    allow_hosts: tuple[str, ...] = ()
    max_queue: int = 256
    timeout: float = 30.0
    body_seconds: float = 30.0
    feature_bytes: int = 64_000_000
    head_bytes: int = 64_000_000
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.api_keys:
            raise UsageError(
                f"--host {self.host} is open to other machines, so requests need a key: "
                "give --api-key-file FILE, or leave --host at 127.0.0.1."
            )
        if self.max_queue < self.limits.images:
            raise UsageError(
                f"--max-queue {self.max_queue} is less than the {self.limits.images} images that one request may bring."
            )
        if self.timeout <= 0 or self.body_seconds <= 0:
            raise UsageError(f"--timeout must be above 0 seconds; got {min(self.timeout, self.body_seconds)}.")

    @property
    def load_options(self) -> LoadOptions:
        """How the models are loaded."""
        return LoadOptions(device=self.device, dtype=self.dtype, runtime=self.runtime, precision=self.precision)

    def to_json(self) -> str:
        """The settings as text; `from_json` reads them again in another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """The settings of `to_json`."""
        values: dict[str, Any] = json.loads(text)
        for name in ("api_keys", "allow_hosts"):
            values[name] = tuple(values[name])
        if isinstance(values["labels"], list):
            values["labels"] = tuple(values["labels"])
        return cls(**values | {"limits": Limits(**values["limits"])})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address; a name other than localhost may be anything."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
