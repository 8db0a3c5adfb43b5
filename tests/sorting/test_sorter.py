"""Sorting: killed at any point and started again it ends with the same tree, and undoing restores the first one."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from viewvote.errors import ImageError, UsageError
from viewvote.sorting.lock import hold_folder
from viewvote.sorting.log import NAME, read_log
from viewvote.sorting.sorter import Sorter
from viewvote.sorting.undo import undo

FOLDERS = {"red": "red", "green": "green stuff"}
SETTINGS = {"labels": ["red", "green"], "model": "toy"}
STEPS = ("link", "unlink", "rename", "replace", "mkdir", "rmdir", "fsync", "truncate")


class Killed(BaseException):
    """The process ends here; nothing that would run after `kill -9` may depend on it."""


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """Nothing here loses power: what was written is there."""

    def fsync(descriptor):
        pass

    monkeypatch.setattr(os, "fsync", fsync)


def source_tree(root):
    """Files whose first letter is their label's; three want the name x.jpg in one folder, one is there already."""
    for place, text in {"a/x.jpg": "r1", "b/x.jpg": "r2", "b/y.jpg": "g1", "c/X.JPG": "r3", "c/z.jpg": "g2"}.items():
        path = root / "src" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(10**18, 10**18 + 123456789))
    (root / "dest" / "red").mkdir(parents=True)
    (root / "dest" / "red" / "x-2.jpg").write_text("another's")
    os.utime(root / "dest" / "red" / "x-2.jpg", ns=(10**18, 10**18))


def tree(root):
    """Every file with its content and date, apart from the log."""
    return {
        str(path.relative_to(root)): (path.read_text(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != NAME
    }


def sort(root, *, move):
    paths = sorted(map(str, (root / "src").rglob("*.[jJ][pP][gG]")))
    sorter = Sorter(root / "dest", move=move, settings=SETTINGS)
    try:
        for path in sorter.left(paths):
            label = {"r": "red", "g": "green"}[Path(path).read_text()[0]]
            sorter.put(path, folder=FOLDERS[label], label=label, probability=0.9)
    finally:
        sorter.close()


def count_steps(monkeypatch, *, die_at=None, after=False):
    """Count the changes made to the disk; before or after one of them, the process dies."""
    seen = [0]

    def wrapped(real):
        def step(*args, **kwargs):
            seen[0] += 1
            if seen[0] == die_at and not after:
                if real.__name__ == "fsync":
                    with suppress(OSError):  # of a file that is read
                        os.ftruncate(args[0], os.fstat(args[0]).st_size - 5)  # the line was not yet all there
                raise Killed
            try:
                return real(*args, **kwargs)
            finally:
                if seen[0] == die_at:
                    raise Killed

        step.__name__ = real.__name__
        return step

    for name in STEPS:
        monkeypatch.setattr(os, name, wrapped(getattr(os, name)))
    real_copy = shutil.copy2

    def copy2(source, target):
        seen[0] += 1
        if seen[0] == die_at:
            Path(target).write_text("h")  # cut short
            if after:
                real_copy(source, target)
            raise Killed
        return real_copy(source, target)

    monkeypatch.setattr(shutil, "copy2", copy2)
    return seen


@pytest.fixture(params=["links", "no links"])
def links(request, monkeypatch):
    """A file system with hard links, and one without."""
    if request.param == "no links":

        def link(*args, **kwargs):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)


def in_order(root, *, move):
    """The trees of a sorting that nothing interrupts: before, after."""
    source_tree(root)
    before = tree(root)
    sort(root, move=move)
    return before, tree(root)


@pytest.mark.parametrize("move", [False, True])
def test_names_do_not_collide_and_dates_are_kept(tmp_path, move, links):
    before, after = in_order(tmp_path, move=move)
    sorted_files = {name: content for name, (content, _) in after.items() if name.startswith("dest")}
    assert sorted_files == {
        "dest/red/x.jpg": "r1",
        "dest/red/x-2.jpg": "another's",
        "dest/red/x-3.jpg": "r2",
        "dest/red/X-4.JPG": "r3",
        "dest/green stuff/y.jpg": "g1",
        "dest/green stuff/z.jpg": "g2",
    }
    assert after["dest/red/x.jpg"][1] == 10**18 + 123456789
    left = {name for name in after if name.startswith("src")}
    assert left == (set() if move else {name for name in before if name.startswith("src")})


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the dead close no files
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("move", [False, True])
def test_killed_at_any_point_and_started_again_it_ends_the_same_and_can_be_undone(tmp_path, links, move, after):
    before, expected = in_order(tmp_path / "whole", move=move)
    point = 0
    while True:
        point += 1
        root = tmp_path / str(point)
        source_tree(root)
        with pytest.MonkeyPatch.context() as patch:
            seen = count_steps(patch, die_at=point, after=after)
            try:
                sort(root, move=move)
            except Killed:
                pass
            else:
                assert seen[0] < point
                break
        if point % 3 == 0:  # undone without being finished
            undo(root / "dest" / NAME, report=pytest.fail) if read_log(root / "dest" / NAME) else None
            assert tree(root) == before
        sort(root, move=move)
        assert tree(root) == expected
        sort(root, move=move)
        assert tree(root) == expected
        undo(root / "dest" / NAME, report=pytest.fail)
        assert tree(root) == before
        assert sorted(path.name for path in (root / "dest").iterdir()) == ["red"]
    assert point > 25


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("move", [False, True])
def test_undoing_may_be_killed_too(tmp_path, links, move, after):
    before, _ = in_order(tmp_path / "whole", move=move)
    point = 0
    while True:
        point += 1
        root = tmp_path / str(point)
        in_order(root, move=move)
        with pytest.MonkeyPatch.context() as patch:
            count_steps(patch, die_at=point, after=after)
            try:
                undo(root / "dest" / NAME, report=pytest.fail)
            except Killed:
                pass
            else:
                break
        if (root / "dest" / NAME).exists():
            undo(root / "dest" / NAME, report=pytest.fail)
        assert tree(root) == before
    assert point > 5


def test_undoing_leaves_what_was_changed_and_can_go_on_later(tmp_path):
    before, _ = in_order(tmp_path, move=False)
    (tmp_path / "dest" / "red" / "x.jpg").write_text("painted over")
    told = []
    undone = undo(tmp_path / "dest" / NAME, report=told.append)
    assert (undone.restored, undone.kept) == (4, 1)
    assert "x.jpg is left where it is: it was changed" in told[0]
    (tmp_path / "dest" / "red" / "x.jpg").unlink()
    assert undo(tmp_path / "dest" / NAME, report=pytest.fail).kept == 0
    assert tree(tmp_path) == before


def test_a_moved_image_whose_place_is_taken_stays(tmp_path):
    in_order(tmp_path, move=True)
    (tmp_path / "src" / "a" / "x.jpg").write_text("the camera counts from 1 again")
    told = []
    assert undo(tmp_path / "dest" / NAME, report=told.append).kept == 1
    assert "is there again" in told[0]
    assert (tmp_path / "dest" / "red" / "x.jpg").read_text() == "r1"


@pytest.mark.parametrize("move", [False, True])
def test_new_images_join_and_a_name_used_again_is_another_image(tmp_path, move):
    in_order(tmp_path, move=move)
    (tmp_path / "src" / "a" / "x.jpg").write_text("red again")
    (tmp_path / "src" / "a" / "new.jpg").write_text("green")
    sort(tmp_path, move=move)
    found = {name: content for name, (content, _) in tree(tmp_path).items()}
    assert found["dest/red/x-5.jpg"] == "red again"
    assert found["dest/green stuff/new.jpg"] == "green"


def test_a_folder_may_be_sorted_in_itself(tmp_path):
    for name in ("x.jpg", "y.jpg", "red/old.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("r")
    for _ in range(2):
        sorter = Sorter(tmp_path, move=True, settings=SETTINGS)
        for path in sorter.left(sorted(map(str, tmp_path.rglob("*.jpg")))):
            sorter.put(path, folder="red", label="red", probability=1.0)
        sorter.close()
        assert set(tree(tmp_path)) == {"red/x.jpg", "red/y.jpg", "red/old.jpg"}
    undo(tmp_path / NAME, report=pytest.fail)
    assert set(tree(tmp_path)) == {"x.jpg", "y.jpg", "red/old.jpg"}


def test_a_dry_run_names_the_same_places_and_leaves_no_trace(tmp_path):
    source_tree(tmp_path)
    before = tree(tmp_path)
    sorter = Sorter(tmp_path / "dest", move=True, settings=SETTINGS, dry_run=True)
    paths = sorted(map(str, (tmp_path / "src").rglob("*x.jpg")))
    assert [sorter.put(path, folder="red", label="red", probability=1) for path in paths] == [
        "red/x.jpg",
        "red/x-3.jpg",
    ]
    sorter.close()
    assert tree(tmp_path) == before
    assert not (tmp_path / "dest" / NAME).exists()


def test_another_question_is_refused(tmp_path):
    in_order(tmp_path, move=False)
    with pytest.raises(UsageError, match="was sorted with other labels"):
        Sorter(tmp_path / "dest", move=False, settings={**SETTINGS, "labels": ["blue"]})
    with pytest.raises(UsageError, match="was sorted with other move"):
        Sorter(tmp_path / "dest", move=True, settings=SETTINGS)


def test_links_are_copied_and_never_moved(tmp_path):
    source_tree(tmp_path)
    link = tmp_path / "src" / "link.jpg"
    link.symlink_to("a/x.jpg")
    for move in (False, True):
        sorter = Sorter(tmp_path / f"dest-{move}", move=move, settings=SETTINGS)
        if move:
            with pytest.raises(ImageError, match="is a link and is not moved"):
                sorter.put(str(link), folder="red", label="red", probability=1)
        else:
            sorter.put(str(link), folder="red", label="red", probability=1)
        sorter.close()
    assert (tmp_path / "dest-False" / "red" / "link.jpg").read_text() == "r1"
    assert not (tmp_path / "dest-False" / "red" / "link.jpg").is_symlink()


def test_a_file_that_is_no_log_is_refused(tmp_path):
    for text in ("precious\n", "precious", '{"viewvote_sort": 2, "settings": {}}\n', "[]\n"):
        (tmp_path / NAME).write_text(text)
        with pytest.raises(UsageError, match="nothing was changed"):
            undo(tmp_path / NAME, report=pytest.fail)
        with pytest.raises(UsageError, match="nothing was changed"):
            Sorter(tmp_path, move=False, settings=SETTINGS)
        assert (tmp_path / NAME).read_text() == text
    with pytest.raises(UsageError, match="there is no log"):
        undo(tmp_path / "none.jsonl", report=pytest.fail)


@pytest.mark.parametrize(
    "wrong",
    [
        {"target": "../precious.jpg"},
        {"target": "red/../../precious.jpg"},
        {"target": "/precious.jpg"},
        {"target": "precious.jpg"},
        {"target": "."},
        {"target": 3},
        {"source": "relative.jpg"},
        {"size": "5"},
    ],
)
def test_an_edited_log_touches_nothing_elsewhere(tmp_path, wrong):
    in_order(tmp_path, move=False)
    header, *rows = (tmp_path / "dest" / NAME).read_text().splitlines()
    plans = [json.loads(row) for row in rows]
    first = next(row["plan"] for row in plans if "plan" in row)
    first.update(wrong)
    (tmp_path / "dest" / NAME).write_text("\n".join([header, *map(json.dumps, plans)]) + "\n")
    before = tree(tmp_path)
    with pytest.raises(UsageError, match="nothing was changed"):
        undo(tmp_path / "dest" / NAME, report=pytest.fail)
    assert tree(tmp_path) == before


def test_an_image_that_vanished_since_is_left_to_its_own_error(tmp_path):
    in_order(tmp_path, move=False)
    (tmp_path / "src" / "a" / "x.jpg").unlink()
    sorter = Sorter(tmp_path / "dest", move=False, settings=SETTINGS, dry_run=True)
    gone, there = (str(tmp_path / "src" / name) for name in ("a/x.jpg", "b/x.jpg"))
    assert sorter.left([gone, there]) == [gone]
    with pytest.raises(ImageError, match=r"x\.jpg"):
        sorter.put(gone, folder="red", label="red", probability=0.5)


def test_two_processes_do_not_sort_one_folder(tmp_path):
    with (
        hold_folder(tmp_path),
        pytest.raises(BlockingIOError, match="is being sorted by another process"),
        hold_folder(tmp_path),
    ):
        pass
    with hold_folder(tmp_path):
        pass
