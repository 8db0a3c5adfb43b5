"""Tables and shards made to harm: an error in a row each, and the good images answered."""

import json
import struct
import zlib

import pytest

from benchmarks.shelves import picture, write_tar
from tests.bulk.jobs import job, rows_of
from viewvote.bulk import classify_bulk
from viewvote.errors import ViewvoteError

pytest.importorskip("pyarrow")


def huge_png(width, height):
    """A few bytes that claim to be so many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def test_images_in_a_shard_are_bounded_as_single_files_are(tmp_path):
    members = {"bomb.png": huge_png(60_000, 60_000), "good.png": picture(0), "no.jpg": b"\xff\xd8\xff" + b"x" * 99}
    write_tar(tmp_path / "s.tar", members)
    classify_bulk(job(str(tmp_path / "s.tar"), tmp_path / "t.parquet"))
    bomb, good, no = rows_of(tmp_path / "t.parquet")
    assert "the limit is 178,956,970 pixels" in bomb["error"]
    assert good["label"] == "red"
    assert "cannot decode" in no["error"]


def test_names_that_no_file_can_have(tmp_path):
    (tmp_path / "good.png").write_bytes(picture(2))
    names = ["\ud800.png", "a\0b.png", "x" * 5000 + ".png", "good.png", "\udcff.png", ".", ""]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"path": name}) + "\n" for name in names))
    done = classify_bulk(job(str(tmp_path / "t.jsonl"), tmp_path / "t.parquet", keep=["path"]))
    rows = rows_of(tmp_path / "t.parquet")
    assert (done.images, done.errors) == (7, 6)
    assert [row["label"] for row in rows] == [None, None, None, "blue", None, None, None]
    assert rows[0]["path"] == "\\ud800.png"
    assert all(row["error"] for row in rows if row["label"] is None)


@pytest.mark.parametrize(
    "manifest",
    [
        b"[" * 100_000,
        b"[]",
        b'{"settings": [[1]]}',
        b'{"environment": [1]}',
        b'{"environment": {"packages": 3}}',
        b'{"environment": {"model_probe": "x"}}',
        b"\xff",
    ],
)
def test_an_edited_manifest_is_an_error_that_names_it(tmp_path, manifest):
    write_tar(tmp_path / "s.tar", {"a.png": picture(0)})
    asked = job(str(tmp_path / "s.tar"), tmp_path / "t.parquet")
    classify_bulk(asked)
    path = tmp_path / "t.parquet.manifest" / "manifest.json"
    settings = json.loads(path.read_text())["settings"]
    path.write_bytes(
        manifest.replace(b'{"environment"', b'{"settings": ' + json.dumps(settings).encode() + b', "environment"')
    )
    for finished in (tmp_path / "t.parquet.manifest" / "finished").iterdir():
        finished.unlink()
    with pytest.raises(ViewvoteError, match=r"manifest\.json|was begun with|began with another"):
        classify_bulk(asked)
