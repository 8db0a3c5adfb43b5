"""Answers that were frozen: not one byte of them may change unnoticed (`answers.py` recomputes and compares them)."""

import json
from importlib.util import find_spec

import pytest

from tests.golden.answers import PROBES, Workshop, all_texts, read_digests, records_text, write_texts
from tests.golden.machine import digest
from tests.golden.specs import expected_digest, named_digest

RECORDED = read_digests()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("golden").resolve())


@pytest.fixture(scope="module")
def texts(shop):
    return all_texts(shop)


@pytest.mark.parametrize("kind", PROBES)
def test_every_answer_is_the_one_that_was_frozen(kind, texts, shop):
    expected = RECORDED[kind].get(PROBES[kind]())
    if expected is None:
        pytest.skip(f"no golden digests of kind {kind!r} for this kind of processor and these releases of libraries")
    found = {name: digest(text) for name, text in texts[kind].items()}
    changed = [name for name in expected if name in found and found[name] != expected[name]]
    if changed:
        write_texts(texts, shop.folder / "texts")
        start = "\n".join(line[:200] for line in texts[kind][changed[0]].splitlines()[:12])
        pytest.fail(
            f"{len(changed)} of {len(expected)} frozen {kind} answers changed: {', '.join(changed)}.\n"
            f"The new texts are in {shop.folder / 'texts' / kind}; `python -m tests.golden.answers --texts DIR` writes "
            f"those of another checkout, to compare. {changed[0]} begins now:\n{start}\n"
            f"{shop.complaints}"
        )
    assert found.keys() == expected.keys()


def test_the_name_of_each_run_folder_ends_with_the_hash_of_its_spec(texts, shop):
    runs = shop.runs()
    assert len(runs) > 30
    assert {run: named_digest(run) for run in runs} == {run: expected_digest(run / "spec.toml") for run in runs}


@pytest.mark.skipif(not find_spec("ray"), reason="needs the ray extra")
def test_ray_answers_as_the_frozen_run_does(texts, shop):
    flags = ["--dataset", "colours", "--model", "toy", "--views", "16", "--engine", "ray"]
    shop.carry_out([shop.evaluation("ray-zero-16", flags)])
    local = shop.run("toy-zero-16")
    assert records_text(shop.run("ray-zero-16")) == records_text(local)
    assert shop.run("ray-zero-16").name == local.name


def test_the_frozen_runs_reach_what_they_are_to_freeze(texts, shop):
    """Views disagree, ties are broken, images stop early at different times and not all answers are right."""
    records = [json.loads(line) for run in shop.runs() for line in _lines(run)]
    assert len({record["views_used"] for record in records}) > 5
    assert any(record["tie_break"] for record in records)
    assert any(len(record["votes"] or {}) > 1 for record in records)
    assert {record["correct"] for record in records} == {True, False}
    assert all(record["error"] is None for record in records)


def _lines(run):
    return (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
