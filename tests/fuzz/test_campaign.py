"""The campaign itself: what it notices, what it minimises, and that it outlives its workers."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from fuzz import campaign
from fuzz.campaign import Pool, run_campaign
from fuzz.killable import Verdict, Worker
from fuzz.ledger import Tally, add_to_ledger, read_ledger, tables
from fuzz.minimise import minimised
from fuzz.mutators import mutated_bytes, mutated_json, mutated_json_bytes, mutated_lines
from fuzz.pictures import mutated_picture
from fuzz.target import load, names

ROOT = Path(__file__).parents[2]


def test_every_target_has_a_first_seed_that_is_accepted():
    assert "calibrations" in names()
    with Worker("calibrations") as worker:
        assert worker.ask(load("calibrations").seeds(random.Random(0))[0]).outcome == "accepted"


def test_an_error_of_ours_is_no_finding_and_its_message_is_kept_without_its_details():
    with Worker("calibrations") as worker:
        verdict = worker.ask(b"no JSON")
    assert verdict.finding is None
    assert verdict.outcome.startswith("UsageError: ")
    assert "calibration.json" not in verdict.outcome


def test_a_worker_that_dies_is_a_finding_and_the_next_input_gets_another():
    with Worker("calibrations") as worker:
        worker.ask(b"{}")
        os.kill(worker._process.pid, signal.SIGKILL)
        assert worker.ask(b"{}").finding == "the process died: SIGKILL"
        assert worker.ask(b"{}").finding is None


def test_of_many_inputs_the_one_that_ends_the_process_is_named_and_the_others_are_answered():
    with Worker("calibrations") as worker:
        worker.ask(b"{}")
        os.kill(worker._process.pid, signal.SIGSTOP)
        worker.seconds = 0.5
        verdicts = worker.ask_all([b"{}", b"no JSON", b"{}"])
        assert [verdict.finding for verdict in verdicts] == ["no answer within 0.5 seconds", None, None]
        assert [verdict.outcome[:10] for verdict in verdicts[1:]] == ["UsageError"] * 2


def test_changes_start_mostly_from_what_is_accepted_and_from_what_is_quick():
    pool = Pool([b"good", b"slow", b"bad", b"worse"])
    for data, outcome, seconds in (
        (b"good", "accepted", 0.1),
        (b"slow", "accepted", 9.0),
        (b"bad", "UsageError: _", 0.0),
    ):
        pool.asked(data, Verdict(outcome, seconds))
    rng = random.Random(0)
    chosen = [pool.choose(rng) for _ in range(2000)]
    assert pool.accepted == [b"good", b"slow"]
    assert chosen.count(b"good") > 900 > 700 > chosen.count(b"slow")
    assert chosen.count(b"bad") + chosen.count(b"worse") < 600
    assert all(chosen.count(data) > 50 for data in pool.inputs)


MEMORY = """
from fuzz.peak import Peak

peak = Peak()
peak.start()
held = bytearray(60_000_000)
del held
first = peak.grown()
peak.start()
print(first, peak.grown())
"""


def test_memory_of_one_input_is_seen():  # in a process of its own: the system may take back pages of a large one
    done = subprocess.run([sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True)
    first, second = map(float, done.stdout.split())
    assert 50 < first < 100
    assert second < 10


def test_figures_of_several_campaigns_add_up(tmp_path):
    path = tmp_path / "figures.json"
    for seed, seconds in ((1, 0.5), (2, 3.0)):
        tally = Tally("images", seed)
        tally.count(Verdict("accepted", seconds, kind="PNG", megabytes=seconds))
        tally.count(Verdict("UsageError: _", 9.0, kind="PNG"))
        tally.count(Verdict("bad", 9.0, "a fault", kind="GIF"))
        tally.spent(seconds=10.0, rss=100.0 + seed, processor=4.0)
        tally.spent(seconds=10.0, rss=105.0, processor=5.0)
        assert add_to_ledger(path, tally).inputs.total() == 0
    (images,) = read_ledger(path).values()
    assert images["kinds"]["PNG"] == {"inputs": 4, "accepted": 2, "slowest": 3.0, "megabytes": 3.0}
    assert (images["seconds"], images["processor"], images["growth"], images["seeds"]) == (40.0, 10.0, 4.0, [1, 2])
    assert "| images | 6 | 2 | 0 | 1 | 3.00 s | 3 MB | 4 MB | 1 |" in tables(read_ledger(path))


def test_an_input_without_an_answer_in_time_is_a_finding():
    with Worker("calibrations") as worker:
        worker.ask(b"{}")
        os.kill(worker._process.pid, signal.SIGSTOP)
        worker.seconds = 0.2
        assert worker.ask(b"{}").finding == "no answer within 0.2 seconds"


@pytest.mark.parametrize("data", [b"xxxxAyyyyByyyy", b"AB", b"A" + b"z" * 1000 + b"B"])
def test_minimising_leaves_what_the_fault_needs(data):
    assert minimised(data, lambda d: b"A" in d and b"B" in d[d.index(b"A") :], seconds=60) == b"AB"


@pytest.mark.parametrize("mutate", [mutated_bytes, mutated_json_bytes, mutated_lines])
def test_changes_depend_on_the_random_numbers_alone_and_take_any_bytes(mutate):
    for data in (b"", b"{}", b'{"a": [1, {"b": "c"}]}\n\xff', b"a,b\n1,2\n"):
        changed = [mutate(data, random.Random(i)) for i in range(200)]
        assert changed == [mutate(data, random.Random(i)) for i in range(200)]
    assert len({mutate(b'{"a": [1, {"b": "c"}]}\na,b', random.Random(i)) for i in range(200)}) > 50


def test_a_picture_whose_numbers_are_at_their_ends_can_be_changed_again():
    rng = random.Random(0)
    header = struct.pack(">II", 2**32 - 1, 2**32 - 1) + b"\x08\x02\0\0\0"
    chunks = [(b"IHDR", header), (b"IDAT", b"pixels"), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks)
    assert len({mutated_picture(data, rng) for _ in range(300)}) > 100


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def test_json_is_changed_at_every_depth():
    value = {"a": [1, {"b": "c"}]}
    changed = [mutated_json(value, random.Random(i)) for i in range(500)]
    assert any(isinstance(one, dict) and "a" not in one for one in changed)
    inner = [one["a"][1]["b"] for one in changed if _has_inner(one)]
    assert any(one != "c" for one in inner)
    assert value == {"a": [1, {"b": "c"}]}


def _has_inner(value) -> bool:
    try:
        return "b" in value["a"][1]
    except (TypeError, LookupError):
        return False


def test_a_campaign_reports_its_inputs_and_writes_what_it_finds(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(campaign, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr(campaign, "FOUND", tmp_path / "found")
    monkeypatch.setattr(
        Worker,
        "ask_all",
        lambda self, inputs: [Verdict("bad", 0.5, "a fault" if b"4" in one else None, kind="k") for one in inputs],
    )
    monkeypatch.setattr(campaign, "LEDGER", tmp_path / "figures.json")
    report = run_campaign("calibrations", seconds=60, seed=0, most=300)
    assert report.inputs == 300
    (found,) = json.loads((tmp_path / "figures.json").read_text()).values()
    assert found["seeds"] == [0]
    assert found["kinds"] == {"k": {"inputs": 300, "accepted": 0, "slowest": 0.0, "megabytes": 0.0}}
    assert list(report.findings) == ["a fault"]
    assert report.findings["a fault"].read_bytes() == b"4"
    assert json.loads(capfd.readouterr().out)["finding"] == "a fault"
