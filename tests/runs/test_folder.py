"""The run's folder: a log that cannot be written is not worth the run, and every message gets into one that can."""

import logging
import os
from pathlib import Path

import pytest

from viewvote.errors import RunWriteError
from viewvote.runs.folder import RunFolder
from viewvote.runs.log import RecordLog

needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def _log_and_append(log):
    logging.getLogger("viewvote").info("three samples are there")
    log.append(["a record"])


@needs_full_device
def test_a_log_on_a_full_disk_does_not_stop_the_run(tmp_path):
    with RunFolder(tmp_path).logging(Path("/dev/full")):
        logging.getLogger("viewvote").info("three samples are there")
    assert "three samples are there" in (tmp_path / "run.log").read_text()
    assert not logging.getLogger("viewvote").handlers


@needs_full_device
def test_a_log_on_a_full_disk_does_not_hide_what_stopped_the_run(tmp_path):
    (tmp_path / "records.jsonl").symlink_to("/dev/full")
    with (
        pytest.raises(RunWriteError, match="Free some space"),
        RunFolder(tmp_path).logging(Path("/dev/full")),
        RecordLog(tmp_path / "records.jsonl") as log,
    ):
        _log_and_append(log)


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_file_name_that_is_not_utf_8_is_logged(tmp_path, monkeypatch):
    # Tests on several processes report what was logged, which must be UTF-8 then.
    monkeypatch.setattr(logging.getLogger("viewvote"), "propagate", False)
    with RunFolder(tmp_path).logging():
        logging.getLogger("viewvote").warning("%s: unreadable", os.fsdecode(b"caf\xe9.png"))
    assert r"caf\udce9.png: unreadable" in (tmp_path / "run.log").read_text()
