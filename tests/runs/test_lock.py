"""One process at a time: the second is refused, a dead one leaves nothing that blocks."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from viewvote.errors import RunError, RunLockedError, RunWriteError
from viewvote.runs.lock import hold

HOLDER = """
import sys, time
from pathlib import Path
from viewvote.runs.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdout=subprocess.PIPE)
    with process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_second_process_is_told_who_is_at_work(holder, tmp_path):
    with pytest.raises(RunLockedError, match=rf"in use by process {holder.pid} on .* since .* Nothing was changed"):
        hold(tmp_path / "lock").__enter__()


def test_a_killed_process_blocks_nobody(holder, tmp_path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert str(holder.pid) in (tmp_path / "lock").read_text()  # its name is still there, its lock is not
    with hold(tmp_path / "lock"):
        assert str(os.getpid()) in (tmp_path / "lock").read_text()


def test_the_lock_is_free_again_after_the_block(tmp_path):
    for _ in range(2):
        with hold(tmp_path / "lock"):
            pass
    with pytest.raises(ZeroDivisionError), hold(tmp_path / "lock"):
        raise ZeroDivisionError
    with hold(tmp_path / "lock"):
        pass


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunWriteError, match="cannot write"), hold(tmp_path / "file" / "lock"):
        pass


def test_a_disk_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(lock):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.raises(RunError, match=r"cannot lock .*: No locks available\. .*another disk"), hold(tmp_path / "lock"):
        pass
