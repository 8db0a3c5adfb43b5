"""Sources of many images, as `viewvote classify` goes through them: tar shards, Parquet and Arrow files, tables."""

import gzip
import io
import json
import random
import tarfile
from collections.abc import Callable
from functools import cache

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from PIL import Image

from viewvote.errors import ViewvoteError
from viewvote.sources.open import open_source

from .. import archives
from ..mutators import first_file as kind
from ..mutators import join_files, mutated_lines, split_files
from ..worker import fresh

__all__ = ["GROWTH", "kind", "mutate", "run", "seeds"]

GROWTH = 300
MOST = 2000
"""Items that are looked at: a table may honestly have more."""

_CHANGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "tar": archives.mutated_tar,
    "tgz": archives.mutated_packed_tar,
    "parquet": archives.mutated_parquet,
    "arrow": archives.mutated_arrow,
}


@cache
def _picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (12, 8), "red").save(out, "PNG")
    return out.getvalue()


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in (
            ("a/1.png", _picture()),
            ("a/1.txt", b"red"),
            ("a/1.json", b'{"label": "red", "n": 3}'),
            ("2.png", _picture()),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _rows(cells: list[object], compression: str) -> bytes:
    out = io.BytesIO()
    table = pyarrow.table({"image": cells, "label": ["red", "green", None], "n": [1, 2, 3]})
    pyarrow.parquet.write_table(table, out, compression=compression, row_group_size=2)
    return out.getvalue()


def _arrow(*, stream: bool) -> bytes:
    out = io.BytesIO()
    table = pyarrow.table({"image": [{"bytes": _picture(), "path": "a.png"}, {"bytes": None, "path": "b.png"}]})
    with (pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file)(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def seeds(rng: random.Random) -> list[bytes]:
    """A shard, packed and not, tables of all kinds."""
    del rng
    pictures: list[object] = [_picture(), _picture(), b"no image"]
    structs: list[object] = [{"bytes": _picture(), "path": "a.png"}, {"bytes": None, "path": "b.png"}, None]
    files = [
        ("shard.tar", _tar()),
        ("shard.tgz", gzip.compress(_tar(), mtime=0)),
        *(("rows.parquet", _rows(pictures, how)) for how in ("none", "snappy", "zstd", "gzip")),
        ("rows.parquet", _rows(structs, "snappy")),
        ("rows.parquet", _rows(["a.png", "b.png", "../c.png"], "none")),
        ("rows.arrow", _arrow(stream=True)),
        ("rows.arrow", _arrow(stream=False)),
        ("list.csv", b'path,label\na.png,red\n"b, c.png",green\n'),
        ("list.jsonl", b'{"path": "a.png", "label": "red"}\n{"file_name": "b.png"}\n'),
    ]
    return [join_files({name: data}) for name, data in files]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """The file changed as its ending suggests."""
    files = split_files(data)
    for name, content in files.items():
        files[name] = _CHANGES.get(name.rpartition(".")[2], mutated_lines)(content, rng)
    return join_files(files)


def run(data: bytes) -> None:
    """Go through the source, with and without a kept column, from its start and from its middle."""
    folder = fresh("source")
    for name, content in split_files(data).items():
        (folder / name).write_bytes(content)
    refusal: ViewvoteError | None = None
    for keep in ((), ("label",)):
        for name in split_files(data):
            try:
                source = open_source(folder / name, keep_columns=keep)
                json.dumps([str(one) for one in source.column_types().values()])
            except ViewvoteError as error:
                refusal = refusal or error
                continue
            for piece in source.pieces():
                assert piece.identity
                for position, item in enumerate(piece.items()):
                    assert (item.image is None) == (item.error is not None), item.key
                    if position > MOST:
                        break
                next(iter(piece.items(skip=1)), None)
    if refusal is not None:
        raise refusal
