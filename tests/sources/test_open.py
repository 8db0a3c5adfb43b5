"""What a place stands for, in which order, and cut into which pieces."""

import os

import pytest

from benchmarks.shelves import picture, write_shard
from viewvote.errors import UsageError
from viewvote.sources import listing, open_source
from viewvote.sources.braces import expand, has_braces
from viewvote.sources.files import FilesPiece
from viewvote.sources.listing import holds_more, list_files, split_pattern
from viewvote.sources.piece import digest_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{8..11}", ["8", "9", "10", "11"]),
        ("{008..010}.tar", ["008.tar", "009.tar", "010.tar"]),
        ("{2..0}", ["2", "1", "0"]),
        ("{0..10}", [str(i) for i in range(11)]),
        ("{9..08}", ["09", "08"]),
        ("{a,b}/{1..2}", ["a/1", "a/2", "b/1", "b/2"]),
        ("{x}", ["{x}"]),
        ("plain", ["plain"]),
    ],
)
def test_braces(text, expected):
    assert list(expand(text)) == expected
    assert has_braces(text) is (expected != [text])


@pytest.fixture
def tree(tmp_path):
    for name in ("b/2.png", "b/10.png", "a/deep/x.jpg", "c.png", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(picture(0))
    return tmp_path


def keys(source, root):
    return [os.path.relpath(item.key, root) for item in source]


@pytest.mark.parametrize("names", [1, 2, 20_000])
def test_a_folder_is_listed_in_order_however_few_names_are_held(tree, monkeypatch, names):
    monkeypatch.setattr(listing, "NAMES", names)
    assert keys(open_source(tree), tree) == ["a/deep/x.jpg", "b/10.png", "b/2.png", "c.png"]


def test_links_are_followed_once(tree):
    (tree / "b" / "up").symlink_to(tree)
    outside = tree.parent / "elsewhere"
    outside.mkdir()
    (outside / "y.png").write_bytes(picture(1))
    (tree / "linked").symlink_to(outside)
    assert keys(open_source(tree), tree) == ["a/deep/x.jpg", "b/10.png", "b/2.png", "c.png", "linked/y.png"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.png", ["c.png"]),
        ("**/*.png", ["b/10.png", "b/2.png", "c.png"]),
        ("b/?.png", ["b/2.png"]),
        ("[ab]/**", ["a/deep/x.jpg", "b/10.png", "b/2.png"]),
        ("**/*", ["a/deep/x.jpg", "b/10.png", "b/2.png", "c.png"]),
    ],
)
def test_patterns(tree, pattern, expected, monkeypatch):
    assert keys(open_source(f"{tree}/{pattern}"), tree) == expected
    monkeypatch.chdir(tree)
    assert [item.key for item in open_source(pattern)] == expected


def test_where_a_pattern_starts():
    assert split_pattern("/a/b*/c") == ("/a", "b*/c")
    assert split_pattern("*.png") == ("", "*.png")
    assert split_pattern("/*.png") == ("/", "*.png")
    assert split_pattern("a/b.png") == ("a/b.png", "")
    assert split_pattern("https://host/photo?id=3") == ("https://host/photo?id=3", "")


def test_pieces_are_so_many_files_and_a_shard_between_them(tree):
    write_shard(tree / "s.tar", range(2))
    source = open_source(tree, tree / "s.tar", tree / "b" / "2.png")
    pieces = list(source.pieces(3))
    assert [len(piece.entries) if isinstance(piece, FilesPiece) else piece.name for piece in pieces] == [
        3,
        1,
        f"{tree}/s.tar",
        1,
    ]
    assert [digest_of(piece) for piece in pieces] == [digest_of(piece) for piece in source.pieces(3)]
    assert len({digest_of(piece) for piece in pieces}) == 4


def test_places_that_are_not_there(tree):
    for place, problem in [
        ("gone.png", "no such file or folder: gone.png"),
        ("", "no such file or folder: ''"),
        (f"{tree}/*.gif", "holds no images, shards or tables"),
        (f"{tree}/gone/*.gif", "nothing is at"),
        (f"{tree}/{{1..3}}.tar", "no such file or folder: .*1.tar"),
    ]:
        with pytest.raises(UsageError, match=problem):
            open_source(place)


def test_a_shard_that_is_missing_among_others_is_one_error(tree):
    write_shard(tree / "0.tar", range(1))
    write_shard(tree / "2.tar", range(1))
    items = list(open_source(f"{tree}/{{0..2}}.tar"))
    assert [item.error is not None for item in items] == [False, True, False]
    assert "No such file or directory" in str(items[1].error)


def test_a_large_flat_folder_is_not_held(tmp_path, monkeypatch):
    for i in range(50):
        (tmp_path / f"{i:02}.png").touch()
    monkeypatch.setattr(listing, "NAMES", 8)
    asked = []
    whole = listing.nsmallest
    monkeypatch.setattr(listing, "nsmallest", lambda n, names: asked.append(n) or whole(n, names))
    assert len(list(list_files(str(tmp_path)))) == 50
    assert set(asked) == {8}


def test_a_folder_is_crowded_by_the_files_anywhere_below_it(tree):
    every = list(list_files(str(tree)))
    assert holds_more(str(tree), len(every) - 1)
    assert not holds_more(str(tree), len(every))
    assert not holds_more(str(tree / "nowhere"), 0)
