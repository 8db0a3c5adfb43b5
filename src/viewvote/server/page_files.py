"""The page's own files and the shipped photographs: those that are there when the service starts, and no others."""

import mimetypes
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..errors import ModelNotFoundError
from ..files import example_photos
from .refusals import RefusedError

PAGE = Path(__file__).parent / "page"
INDEX = "index.html"


def page_files(folder: Path = PAGE) -> dict[str, Path]:
    """Name to file; names of files in folders have slashes."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def photo_files() -> dict[str, Path]:
    """Name to shipped photograph."""
    try:
        return {path.name: path for path in example_photos()}
    except ModelNotFoundError:
        return {}


def send_file(request: Request, name: str, files: Mapping[str, Path]) -> Response:
    """One of the files. A name is only ever compared with those known: no path is made from it."""
    if name not in files:
        raise RefusedError("not_found", "there is no such file.")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    answer = FileResponse(files[name], media_type=kind, stat_result=files[name].stat())
    answer.headers["Cache-Control"] = "no-cache"
    if request.headers.get("if-none-match") == answer.headers["etag"]:
        kept = {key: answer.headers[key] for key in ("etag", "cache-control")}
        return Response(status_code=304, headers=kept)
    return answer
