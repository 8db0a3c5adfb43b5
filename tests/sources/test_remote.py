"""Addresses: memory, web servers that break off, S3 that fails one request in twenty."""

import io
import json
import random
from types import SimpleNamespace

import pytest

from benchmarks.shelves import LABELS, label, labels_of, picture, write_shard
from benchmarks.stores import s3, web
from viewvote import Classifier
from viewvote.errors import MissingExtraError, UsageError
from viewvote.sources import address, files, listing, open_source, patience
from viewvote.sources.files import Entry, FilesPiece
from viewvote.sources.listing import list_files
from viewvote.sources.remote import RemoteFile, read_object

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

pytestmark = [
    # aiohttp leaves sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(300),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)


@pytest.fixture
def clf():
    return Classifier("toy", labels=LABELS, n_views=4)


@pytest.fixture
def memory(tmp_path):
    """A folder of a store in memory, and how to fill it."""
    root = f"memory://{tmp_path.name}"
    system = fsspec.filesystem("memory")

    def put(name, data):
        system.pipe_file(f"/{tmp_path.name}/{name}", data)
        return f"{root}/{name}"

    put.root = root
    return put


def test_prefixes_patterns_and_files_of_a_store(memory, clf):
    for i in range(6):
        memory(f"{i % 2}/{i}.png", picture(i))
    memory("notes.txt", b"not an image")
    everything = labels_of(clf, open_source(memory.root))
    assert [(key[-7:], found) for key, found in everything.items()] == [
        (f"{i % 2}/{i}.png", label(i)) for i in (0, 2, 4, 1, 3, 5)
    ]
    (only,) = labels_of(clf, open_source(f"{memory.root}/*/3.png")).values()
    assert only == "red"
    (one,) = labels_of(clf, open_source(f"{memory.root}/1/5.png")).values()
    assert one == "blue"


def test_shards_parquet_and_tables_of_a_store(memory, clf, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    memory("s.tar", write_shard(tmp_path / "s.tar", range(3)).read_bytes())
    out = io.BytesIO()
    pq.write_table(pa.table({"image": [picture(i) for i in range(3)]}), out)
    memory("t.parquet", out.getvalue())
    memory("1.png", picture(1))
    memory("list.csv", b"path\n1.png\n/etc/passwd\nfile:///etc/passwd\ngone.png\n")
    assert list(labels_of(clf, open_source(f"{memory.root}/s.tar")).values()) == LABELS
    assert list(labels_of(clf, open_source(f"{memory.root}/t.parquet")).values()) == LABELS
    first, second, third, fourth = labels_of(clf, open_source(f"{memory.root}/list.csv")).values()
    assert first == "green"
    assert "a table of a store may not" in second
    assert "a table of a store may not" in third
    assert "does not exist" in fourth


def test_an_object_over_the_limit_is_not_read_whole(memory):
    place = memory("big.png", b"x" * 1000)
    assert len(read_object(place, limit=100)) == 101
    (item,) = FilesPiece((Entry(place),), max_bytes=100).items()
    assert "has more than 100 bytes" in str(item.error)


@pytest.mark.parametrize("block", [1, 7, 1000, 5000])
def test_a_remote_file_is_what_lies_there_wherever_one_looks(memory, block):
    data = random.Random(0).randbytes(3000)
    place = memory("data", data)
    with RemoteFile(place, block=block) as file:
        buffered = io.BufferedReader(file, buffer_size=16)
        assert buffered.read() == data if block > 1 else buffered.read(100) == data[:100]
        for start in (2999, 0, 1500):
            buffered.seek(start)
            assert buffered.read(10) == data[start : start + 10]


@pytest.mark.parametrize("ranges", [True, False])
def test_web_servers_that_break_off_are_asked_again(ranges, clf, tmp_path, monkeypatch):
    monkeypatch.setattr(RemoteFile.__init__, "__kwdefaults__", {"block": 3000})
    shard = write_shard(tmp_path / "s.tar", range(6)).read_bytes()
    stored = {"/s.tar": shard, "/1.png": picture(1), "/photo?id=2": picture(2)}
    with web(stored, ranges=ranges, fails={0, 2, 3, 5}) as root:
        assert list(labels_of(clf, open_source(f"{root}/s.tar")).values()) == [label(i) for i in range(6)]
    with web(stored, ranges=ranges, fails={0, 1, 2, 4}) as root:
        found = labels_of(clf, open_source(f"{root}/1.png", f"{root}/photo?id=2", f"{root}/gone.jpg"))
    assert list(found.values())[:2] == ["green", "blue"]
    assert "gone.jpg does not exist" in list(found.values())[2]


def test_a_server_that_never_answers_whole_is_an_error(clf):
    with web({"/1.png": picture(1)}, ranges=True, fails=range(100)) as root:
        (found,) = labels_of(clf, open_source(f"{root}/1.png")).values()
    assert f"cannot read {root}/1.png: " in found
    assert "(6 attempts)" in found


def test_the_links_of_a_page_are_a_folder_and_lead_nowhere_else(clf):
    page = b'<a href="1.png">1</a> <a href="/elsewhere/2.png">2</a> <a href="http://example.org/3.png">3</a>'
    with web({"/photos/": page, "/photos/1.png": picture(1), "/elsewhere/2.png": picture(2)}, ranges=True) as root:
        assert labels_of(clf, open_source(f"{root}/photos/")) == {f"{root}/photos/1.png": "green"}


def test_what_a_further_attempt_would_not_change_is_raised_at_once():
    asked = []

    def fail(error):
        asked.append(error)
        raise error

    for error in (FileNotFoundError("x"), PermissionError("x")):
        with pytest.raises(type(error)):
            patience.persist(lambda error=error: fail(error), what="x")
    forbidden = OSError("no")
    forbidden.status = 403
    with pytest.raises(OSError, match="what it was: no"):
        patience.persist(lambda: fail(forbidden), what="what it was")
    assert len(asked) == 3
    with pytest.raises(OSError, match=r"\(6 attempts\)"):
        patience.persist(lambda: fail(TimeoutError("slow")), what="x")
    assert len(asked) == 9


def held_as(**where):
    """An error whose client keeps the status of the answer there."""
    error = OSError("no")
    for name, value in where.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (held_as(status=403), 1),
        (held_as(code=401), 1),
        (held_as(status_code=403), 1),  # Azure's
        (held_as(response=SimpleNamespace(status_code=403)), 1),  # the hub's
        (held_as(response={"ResponseMetadata": {}}), 6),  # of botocore
        (held_as(status=429), 6),
        (held_as(response=SimpleNamespace(status_code=503)), 6),
        (ValueError("Bad Request"), 1),
        (NotImplementedError("no lists of repositories"), 1),
        (json.JSONDecodeError("cut off", "{", 1), 6),
    ],
)
def test_only_what_may_pass_is_asked_for_again(error, attempts):
    asked = []

    def fail():
        asked.append(1)
        raise error

    with pytest.raises(OSError, match="what it was: "):
        patience.persist(fail, what="what it was")
    assert len(asked) == attempts


def test_an_address_that_its_client_does_not_understand_is_a_mistake():
    pytest.importorskip("huggingface_hub")
    for place in ("hf://", "hf://single"):
        with pytest.raises(UsageError, match=f"cannot list {place}: "):
            open_source(place)


def test_a_scheme_without_its_package_names_it(monkeypatch):
    def missing(*args, **kwargs):
        raise ImportError("no")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    for scheme, package in [("s3", "s3fs"), ("gs", "gcsfs"), ("az", "adlfs"), ("https", "aiohttp")]:
        with pytest.raises(
            MissingExtraError, match=f"{scheme}:// needs {package}. Install it with: pip install {package}"
        ):
            address.file_system(f"{scheme}://bucket/x")


def test_an_unknown_scheme_is_a_mistake():
    with pytest.raises(UsageError, match=r"cannot use nothing://x: .*Schemes that are known: abfs, .*s3"):
        open_source("nothing://x/*.jpg")


def test_images_of_a_store_are_fetched_ahead_but_not_far(memory, monkeypatch):
    fetched = []
    whole = files.read_object
    monkeypatch.setattr(files, "read_object", lambda place, limit: fetched.append(place) or whole(place, limit=limit))
    entries = tuple(Entry(memory(f"{i:02}.png", picture(i))) for i in range(40))
    items = FilesPiece(entries).items()
    keys = [next(items).key for _ in range(5)]
    assert keys == [entry.address for entry in entries[:5]]
    items.close()
    assert len(fetched) <= 5 + files.FETCHES


@pytest.fixture
def bucket(monkeypatch):
    """A bucket of S3 on loopback, its faults not at work yet."""
    for package in ("s3fs", "moto", "flask"):
        pytest.importorskip(package)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with s3() as (app, root):
        monkeypatch.setenv("AWS_ENDPOINT_URL", root)
        system = fsspec.filesystem("s3", use_listings_cache=False, skip_instance_cache=True)
        system.mkdir("photos")
        app.system = system
        yield app
        fsspec.filesystem("s3", use_listings_cache=False).clear_instance_cache()


def test_s3_that_fails_one_request_in_twenty_loses_nothing(bucket, clf, monkeypatch, tmp_path):
    monkeypatch.setattr(listing, "PAGE", 7)
    for i in range(60):
        bucket.system.pipe_file(f"photos/2024/{i:03}.png", picture(i))
    bucket.system.pipe_file("photos/s.tar", write_shard(tmp_path / "s.tar", range(30)).read_bytes())
    bucket.at_work = True
    found = labels_of(clf, open_source("s3://photos/2024/*.png", "s3://photos/s.tar"))
    assert [found[f"s3://photos/2024/{i:03}.png"] for i in range(60)] == [label(i) for i in range(60)]
    assert [found[f"s3://photos/s.tar#{i:04}.png"] for i in range(30)] == [label(i) for i in range(30)]
    assert bucket.failed > 0
    assert bucket.cut > 0


def test_a_prefix_of_s3_is_listed_a_page_at_a_time(bucket, monkeypatch):
    monkeypatch.setattr(listing, "PAGE", 3)
    for i in range(10):
        bucket.system.pipe_file(f"photos/a/{i}.png", b"x")
    before = bucket.requests
    names = list_files("s3://photos/a")
    assert [next(names) for _ in range(2)] == ["s3://photos/a/0.png", "s3://photos/a/1.png"]
    assert bucket.requests - before <= 2
    assert list(names)[-1] == "s3://photos/a/9.png"


def test_objects_of_s3_that_are_not_there_or_empty_are_errors(bucket, clf):
    bucket.system.pipe_file("photos/empty.png", b"")
    gone, empty = labels_of(clf, open_source("s3://photos/gone.png", "s3://photos/empty.png")).values()
    assert "s3://photos/gone.png does not exist" in gone
    assert "cannot" in empty
