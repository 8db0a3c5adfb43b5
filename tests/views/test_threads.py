"""Threads in a forked child."""

import gc
import os
import subprocess
import sys
import threading

import pytest

from tests.encoders.onnx import packs
from viewvote.views.threads import Pool, Threads

FORKED = """
import os, signal, sys, warnings
import numpy as np
from viewvote import Classifier

warnings.simplefilter("ignore")  # newer Pythons warn of every fork of a process with threads
clf = Classifier("onnx:" + sys.argv[1], labels=["dog", "cat"], n_views=8)
photo = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
answer = clf(photo).scores.tolist()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if clf(photo).scores.tolist() == answer else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_has_one_pool():
    threads = Threads(2, "test")
    assert threads.pool is threads.pool
    assert threads.pool.submit(abs, -2).result() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_classifier_made_before_a_fork_answers_in_the_child(tmp_path):
    pack = packs.write_pack(tmp_path / "pack")
    done = subprocess.run([sys.executable, "-c", FORKED, str(pack)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_threads_of_a_pool_that_nobody_has_any_more_end():
    def alive():
        return [thread for thread in threading.enumerate() if thread.name.startswith("forgotten-")]

    pool = Pool(2, "forgotten")
    assert [pool.submit(abs, -i).result() for i in (1, 2, 3)] == [1, 2, 3]
    threads = alive()
    assert len(threads) == 2
    del pool
    gc.collect()
    for thread in threads:
        thread.join(30)
    assert alive() == []
