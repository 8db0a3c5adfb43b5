"""The campaign itself: what it notices, what it minimises, and that it outlives its workers."""

import json
import os
import random
import signal

import pytest

from fuzz import campaign
from fuzz.campaign import Worker, run_campaign
from fuzz.minimise import minimised
from fuzz.mutators import mutated_bytes, mutated_json, mutated_json_bytes, mutated_lines
from fuzz.target import load, names


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
        Worker, "ask", lambda self, data: campaign.Verdict("bad", 0.0, "a fault" if b"4" in data else None)
    )
    report = run_campaign("calibrations", seconds=5, seed=0)
    assert report.inputs > 3
    assert list(report.findings) == ["a fault"]
    assert report.findings["a fault"].read_bytes() == b"4"
    assert json.loads(capfd.readouterr().out)["finding"] == "a fault"
