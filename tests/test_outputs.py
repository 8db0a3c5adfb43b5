"""Outputs: never over the records of a run, never over another file unasked, and one writer at a time."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unprivileged import as_nobody
from viewvote.errors import RunWriteError, UsageError
from viewvote.files import write_best_effort
from viewvote.outputs import check_folder, check_output, csv_line, lock_output, open_to_add, put_output
from viewvote.runs.folder import RunFolder

needs_posix = pytest.mark.skipif(os.name == "nt", reason="no such files or locks there")


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "runs" / "pets-toy-zero-0123456789ab"
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text('dataset = "pets"')
    (folder / "records.jsonl").write_text("{}\n")
    return folder


@pytest.mark.parametrize("name", ["records.jsonl", "new.csv", "sub/new.csv", "../pets-toy-zero-0123456789ab/x"])
def test_nothing_is_written_into_a_run_whatever_is_allowed(run_folder, name):
    (run_folder / "sub").mkdir()
    with pytest.raises(UsageError, match=r"is inside the run .*pets-toy-zero-0123456789ab"):
        check_output(run_folder / name, overwrite=True)


@needs_posix
def test_a_link_into_a_run_is_seen_through(run_folder, tmp_path):
    (tmp_path / "link.csv").symlink_to(run_folder / "records.jsonl")
    (tmp_path / "folder").symlink_to(run_folder)
    for path in (tmp_path / "link.csv", tmp_path / "folder" / "x.csv"):
        with pytest.raises(UsageError, match="is inside the run"):
            check_output(path, overwrite=True)
    with pytest.raises(UsageError, match="is inside the run"):
        check_folder(tmp_path / "folder", overwrite=True)


def test_beside_runs_and_specs_outputs_may_lie(run_folder, tmp_path):
    (tmp_path / "spec.toml").write_text("")
    check_output(run_folder.parent / "table.md", overwrite=False)
    check_output(tmp_path / "table.md", overwrite=False)
    check_folder(tmp_path / "packs" / "a", overwrite=False)


def test_a_file_that_is_there_is_replaced_only_if_asked(tmp_path):
    (tmp_path / "a.md").write_text("old")
    with pytest.raises(UsageError, match=r"a\.md exists\. Replace it with --overwrite\."):
        check_output(tmp_path / "a.md", overwrite=False)
    check_output(tmp_path / "a.md", overwrite=True)
    with pytest.raises(UsageError, match="it is a folder"):
        check_output(tmp_path, overwrite=True)


@needs_posix
@pytest.mark.parametrize("name", ["no/such/a.md", "a" * 300, "file/a.md", "circle", "nul\0", "half\ud800"])
def test_a_path_that_cannot_be_written_is_an_error_before_any_work(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(UsageError, match=r"^cannot write "):
        check_output(tmp_path / name, overwrite=True)


@needs_posix
def test_a_place_without_permission_is_a_usage_error(tmp_path):
    with as_nobody(tmp_path), pytest.raises(UsageError, match="Permission denied"):
        check_output(tmp_path / "a.md", overwrite=False)
    with as_nobody(tmp_path), pytest.raises(UsageError, match="Permission denied"):
        put_output(tmp_path / "a.md", "x")
    with as_nobody(tmp_path), pytest.raises(UsageError, match="Permission denied"):
        check_folder(tmp_path / "packs" / "a", overwrite=False)


@needs_posix
def test_devices_are_written_to_and_not_replaced_and_links_are_followed(tmp_path):
    check_output(Path(os.devnull), overwrite=False)
    os.mkfifo(tmp_path / "pipe")
    check_output(tmp_path / "pipe", overwrite=False)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    put_output(tmp_path / "pipe", "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    put_output(tmp_path / "link", b"1")
    assert (tmp_path / "real").read_bytes() == b"1"
    assert (tmp_path / "link").is_symlink()


@needs_posix
def test_a_pipe_that_nobody_reads_is_an_error_and_nothing_waits_for_a_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="nobody reads this pipe"):
        put_output(tmp_path / "pipe", "text")
    with pytest.raises(UsageError, match="nobody reads this pipe"):
        open_to_add(tmp_path / "pipe")
    with pytest.raises(RunWriteError, match="pipe"), RunFolder(tmp_path).logging(tmp_path / "pipe"):
        pass


@needs_posix
def test_a_name_as_long_as_names_may_be_is_written_whole(tmp_path):
    put_output(tmp_path / ("a" * 255), "x")
    put_output(tmp_path / ("é" * 127), "x")
    assert len(list(tmp_path.iterdir())) == 2


@needs_posix
def test_one_process_at_a_time_writes_a_file_and_its_end_is_the_end_of_the_lock(tmp_path):
    path = tmp_path / "a.csv"
    holding = "import sys; from pathlib import Path; from viewvote.outputs import lock_output; p = Path(sys.argv[1])"
    holding += "; f = p.open('a'); lock_output(f, p); print('held', flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", holding, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"held\n"
        with path.open("a") as file, pytest.raises(UsageError, match=r"a\.csv is being written by another process"):
            lock_output(file, path)
    finally:
        other.kill()
        other.communicate()
    with path.open("a") as file:
        lock_output(file, path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\r\nb", 'a"b', "a,b", " a", "\u2028", "", "x" * 200_000])
def test_every_value_comes_back_from_its_row(value):
    before = csv.field_size_limit(10**6)
    try:
        text = csv_line([value, 1]) + "\n" + csv_line(["second", 2]) + "\n"
        assert [*csv.reader(io.StringIO(text, newline=""))] == [[value, "1"], ["second", "2"]]
    finally:
        csv.field_size_limit(before)


@needs_posix
def test_a_full_cache_disk_leaves_nothing_of_what_was_begun(tmp_path):
    code = "import resource, sys; from pathlib import Path; from viewvote.files import write_best_effort"
    code += (
        "; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); write_best_effort(Path(sys.argv[1]), b'x' * 5000)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "heads" / "a.npy"], check=True, timeout=60)
    assert list((tmp_path / "heads").iterdir()) == []
    write_best_effort(tmp_path / "heads" / "a.npy", b"x" * 5000)
    assert [one.name for one in (tmp_path / "heads").iterdir()] == ["a.npy"]
