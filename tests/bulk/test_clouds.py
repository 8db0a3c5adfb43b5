"""From a store to a table in the same store and back: Google's, Azure's and Hugging Face's, with faults on the way.

Google's and Azure's need packages and programs that few have: `pip install gcsfs gcp-storage-emulator adlfs` and
`npm install azurite`.
"""

import io
import os
import subprocess
import sys

import pytest

from benchmarks.clouds import az, azurite_is_here, gs, hub
from benchmarks.shelves import LABELS, label, picture, write_shard

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
fsspec = pytest.importorskip("fsspec")

pytestmark = [pytest.mark.timeout(600)]
FLAGS = ["--labels", ",".join(LABELS), "--model", "toy", "--views", "4", "--quiet"]


def classify(*args, env):
    """The command; its exit code and what it said."""
    command = [sys.executable, "-m", "viewvote", "classify", *args, *FLAGS]
    done = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=["gs", "az"])
def store(request, monkeypatch):
    """A bucket of pictures and shards, its faults not at work yet; yields its address, faults and environment."""
    pytest.importorskip({"gs": "gcsfs", "az": "adlfs"}[request.param])
    if request.param == "gs":
        pytest.importorskip("gcp_storage_emulator")
    elif not azurite_is_here():
        pytest.skip("azurite-blob is not on PATH: npm install azurite")
    with {"gs": gs, "az": az}[request.param]() as (faults, env):
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        system = fsspec.filesystem(request.param, use_listings_cache=False, skip_instance_cache=True)
        if request.param == "az":
            system.mkdir("photos")
            faults.most = 3
        yield f"{request.param}://photos", system, faults, env


def rows_in(system, output):
    """The rows of all parts, in order."""
    parts = sorted(system.find(output.partition("://")[2]))
    return [row for part in parts for row in pq.read_table(io.BytesIO(system.cat_file(part))).to_pylist()]


def test_a_table_is_made_in_the_store_and_what_a_second_command_finds_there_stays(store, tmp_path):
    root, system, faults, env = store
    for shard in range(4):
        path = write_shard(tmp_path / "s.tar", range(shard * 9, shard * 9 + 9))
        system.pipe_file(f"photos/in/{shard}.tar", path.read_bytes())
    args = [f"{root}/in/*.tar", "--output", f"{root}/t.parquet", "--part-images", "4", "--keep-columns", "txt"]
    faults.at_work = True
    assert classify(*args, env=env) == (0, "")
    faults.at_work = False
    rows = rows_in(system, f"{root}/t.parquet")
    assert [row["key"] for row in rows] == [f"{root}/in/{i // 9}.tar#{i:04}.png" for i in range(36)]
    assert [row["label"] for row in rows] == [row["txt"] for row in rows] == [label(i) for i in range(36)]
    assert faults.failed + faults.cut > 0
    system.rm_file(next(one for one in system.find("photos/t.parquet.manifest") if "00000002-" in one))
    system.rm_file("photos/t.parquet/part-00000002-00001.parquet")
    assert classify(*args, env=env) == (0, "")
    assert rows_in(system, f"{root}/t.parquet") == rows
    code, said = classify(*args, "--seed", "1", env=env)
    assert (code, "was begun with seed 0, now it is seed 1" in said) == (2, True)


def test_prefixes_are_listed_and_what_is_not_there_is_told(store):
    root, system, faults, env = store
    for i in range(12):
        system.pipe_file(f"photos/a/{i % 2}/{i:02}.png", picture(i))
    faults.at_work = True
    code, found = classify(f"{root}/a/", f"{root}/a/0/gone.png", "--format", "csv", env=env)
    lines = [line.split(",")[:2] for line in found.splitlines() if line.startswith(root)]
    expected = [[f"{root}/a/{i % 2}/{i:02}.png", label(i)] for i in [*range(0, 12, 2), *range(1, 12, 2)]]
    assert (code, lines) == (1, [*expected, [f"{root}/a/0/gone.png", ""]])
    assert "gone.png does not exist" in found
    assert classify(f"{root}/nothing/", env=env) == (2, f"viewvote: nothing is at {root}/nothing/.\n")


def test_the_hub_is_read_and_no_table_is_written_there(tmp_path):
    pytest.importorskip("huggingface_hub")
    out = io.BytesIO()
    pq.write_table(pa.table({"image": [{"bytes": picture(i), "path": None} for i in range(30)]}), out, row_group_size=5)
    files = {
        "data/train-0.parquet": out.getvalue(),
        "images/b/1.png": picture(1),
        "s.tar": write_shard(tmp_path / "s.tar", range(4)).read_bytes(),
        "README.md": b"no image",
    }
    root = "hf://datasets/someone/photos"
    with hub(files) as (faults, env):
        faults.at_work = True
        places = [f"{root}/data/*.parquet", f"{root}/images/", f"{root}/s.tar", f"{root}/images/b/gone.png"]
        code, found = classify(*places, "--format", "csv", env=env)
        assert classify(f"{root}/s.tar", "--output", f"{root}/t.parquet", env=env)[0] == 2
        assert classify("hf://datasets/someone/gone/*.parquet", env=env)[0] == 2
    lines = [line.split(",")[:2] for line in found.splitlines() if line.startswith(root)]
    expected = [[f"{root}/data/train-0.parquet#{i}", label(i)] for i in range(30)]
    expected += [[f"{root}/images/b/1.png", "green"], *([f"{root}/s.tar#{i:04}.png", label(i)] for i in range(4))]
    assert (code, lines) == (1, [*expected, [f"{root}/images/b/gone.png", ""]])
