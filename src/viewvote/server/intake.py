"""A request's images and options, whichever of the three shapes it has: a form, one image, or JSON."""

import binascii
import json
from base64 import b64decode
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request

from ..errors import UsageError
from .forms import read_form
from .job import Upload
from .options import Options, from_text, read_options
from .refusals import RefusedError
from .settings import Limits

SHAPES: Final = (
    "multipart/form-data with file parts named 'image', the bytes of one image (image/*), or application/json"
)
FIELDS: Final = 1000  # labels may be a field each
NAME_CHARS: Final = 255


@dataclass(frozen=True)
class Asked:
    """What a request asks: images, at least one, and how to classify them."""

    uploads: tuple[Upload, ...]
    options: Options


async def read_asked(request: Request, stream: AsyncGenerator[bytes, None], limits: Limits) -> Asked:
    """The images and options of a request; options in the address count for every shape."""
    in_address = from_text(request.query_params.multi_items())
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        uploads, in_body = await _read_form(request, stream, limits)
    elif kind == "application/json":
        uploads, in_body = _read_json(await _joined(stream), limits)
    elif kind.startswith("image/") or kind in ("application/octet-stream", "application/x-www-form-urlencoded"):
        # The last is what curl says of --data-binary if nobody tells it otherwise.
        uploads, in_body = [Upload(await _joined(stream))], {}
    else:
        raise RefusedError(
            "unsupported_media_type", f"the content type {kind[:100]!r} is not supported; send {SHAPES}."
        )
    if not uploads:
        raise UsageError(f"the request has no image; send {SHAPES}.")
    if len(uploads) > limits.images:
        raise UsageError(f"{len(uploads)} images are too many for one request; the limit is {limits.images}.")
    for upload in uploads:
        if not upload.data:
            raise UsageError(f"{upload.name or 'an image'} is empty; send the bytes of an image.")
    twice = in_address.keys() & in_body.keys()
    if twice:
        raise UsageError(f"option {min(twice)!r} is given twice, in the address and in the body; give it once.")
    return Asked(tuple(uploads), read_options(in_address | in_body, limits))


async def _joined(stream: AsyncGenerator[bytes, None]) -> bytes:
    return b"".join([chunk async for chunk in stream])


async def _read_form(
    request: Request, stream: AsyncGenerator[bytes, None], limits: Limits
) -> tuple[list[Upload], dict[str, Any]]:
    parts = await read_form(request.headers["content-type"], stream, max_parts=limits.images + FIELDS)
    uploads, fields = [], []
    for part in parts:
        if part.file_name is not None:
            if part.name != "image":
                raise UsageError(f"file part {part.name[:100]!r} is unknown; name every image 'image'.")
            uploads.append(Upload(bytes(part.data), _spelled(part.file_name)))
        elif part.name == "image":
            raise UsageError("part 'image' has no file name; send it as a file (curl: --form image=@photo.jpg).")
        else:
            fields.append((part.name, part.text()))
    return uploads, from_text(fields)


def _spelled(name: str) -> str | None:
    """The client's name for an image, on one line and of bearable length; None where it has none."""
    if not name:
        return None
    return "".join(c if c.isprintable() else "?" for c in name[:NAME_CHARS])


def _read_json(body: bytes, limits: Limits) -> tuple[list[Upload], dict[str, Any]]:
    values = parse_json(body)
    images = values.pop("images", None)
    if not isinstance(images, list) or not all(isinstance(image, str) for image in images):
        raise UsageError(
            '"images" must be a list of base64 texts, e.g. {"images": ["/9j/4AAQ..."], "labels": ["cat"]}.'
        )
    if len(images) > limits.images:
        raise UsageError(f"{len(images)} images are too many for one request; the limit is {limits.images}.")
    return [Upload(decode_image(image)) for image in images], values


def parse_json(body: bytes) -> dict[str, Any]:
    """The JSON object of a body."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is not JSON: {error}.") from error
    if not isinstance(values, Mapping):
        raise UsageError(f"the body must be a JSON object; got {type(values).__name__}.")
    return dict(values)


def decode_image(text: str) -> bytes:
    """The bytes of a base64 text or of a data: URL; nothing is ever fetched or read from a disk."""
    if text.startswith("data:"):
        head, comma, text = text.partition(",")
        if not comma or not head.endswith(";base64"):
            raise UsageError("a data: URL must be of the form data:image/...;base64,...")
    elif "://" in text[:20]:
        raise UsageError("images are not fetched from URLs; send the bytes as base64.")
    try:
        return b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"an image is not base64: {error}.") from error
