"""The tables of runtimes, of the processor's peak and of what methods cost, from measurements made up by hand."""

import json

import pytest

from benchmarks import ask_again, methods_cost, peak, runtimes
from benchmarks.kept import Kept
from benchmarks.machine import measured_on
from tests.benchmarks.test_bulk_tables import rows_of
from tests.benchmarks.test_sections import of_the_page, titles

CELLS = [
    (variant, runtime, mode)
    for variant in ("fp32", "static")
    for runtime in runtimes.RUNTIMES
    for mode in ("batch 8", "spread")
]


def times(*rounds):
    """The same milliseconds for every cell, round by round."""
    return {cell: list(rounds) for cell in CELLS}


@pytest.mark.parametrize("tower", list(runtimes.TITLES))
def test_runtimes_have_medians_and_quartiles(tower):
    made = list(runtimes.table(times(1.0, 5.0, 2.0, 4.0, 3.0)))
    assert made[2] == "| fp32 | ONNX Runtime | 3.00 (2.00-4.00) | 3.00 (2.00-4.00) |"
    written = rows_of(of_the_page("benchmarks.runtimes", tower))
    assert made[:2] == written[:2]
    assert [line.split(" | ")[:2] for line in made] == [line.split(" | ")[:2] for line in written]


def test_recorded_rounds_of_a_tower_are_read_again(tmp_path):
    file = tmp_path / "runtimes.jsonl"
    kept = Kept(file, {"batches": [8]})
    kept.unit(["vit", 0], lambda: [(("fp32", "onnxruntime", "spread"), 100.0)])
    kept.unit(["b0", 0], lambda: [(("fp32", "onnxruntime", "spread"), 9.0)])
    kept.unit(["vit", 1], lambda: [(("fp32", "onnxruntime", "spread"), 120.0)])
    assert runtimes.recorded("vit", file) == {("fp32", "onnxruntime", "spread"): [100.0, 120.0]}
    assert runtimes.recorded("vit", tmp_path / "nothing.jsonl") == {}


def test_peaks_are_the_best_of_the_rounds():
    first = "fp32 in 256 bits 58, int8 summed in 32 bits 115, int8 summed in 16 bits 160, int8 by VNNI 229 GMAC/s"
    second = "fp32 in 256 bits 57, int8 summed in 32 bits 116, int8 summed in 16 bits 161, int8 by VNNI 231 GMAC/s"
    found = {"fp32 in 256 bits": 58, "int8 summed in 32 bits": 116, "int8 summed in 16 bits": 161, "int8 by VNNI": 231}
    assert peak.rates(f"{first}\n{second}\n") == found


def test_towers_are_set_beside_the_highest_peak_of_their_precision():
    # 17.5 billion in 175 ms of two cores are 50 a second of each, in 50 ms they are 175
    found = {("fp32", "onnxruntime", "spread"): [175.0], ("static", "onnxruntime", "spread"): [50.0, 40.0, 60.0]}
    towers = peak.reached(found | {("fp32", "onnxruntime", "batch 8"): [1.0]}, 2)
    most = {"fp32 in 256 bits": 50.0, "fp32 in 512 bits": 100.0, "int8 by VNNI": 250.0}
    made = list(peak.table(most, towers))
    assert made[2:] == [
        "| peak, fp32 in 256 bits | 50 | |",
        "| peak, fp32 in 512 bits | 100 | |",
        "| ONNX Runtime, fp32, whole tower | 50 | 50% |",
        "| peak, int8 by VNNI | 250 | |",
        "| ONNX Runtime, int8, whole tower | 175 | 70% |",
    ]
    assert made[:2] == rows_of(of_the_page("benchmarks.peak"))[:2]


def test_methods_are_compared_with_zero():
    row = {"seconds": 2.0, "cpu": 4.0, "above_mb": 100.0}
    found = {"zero-shot": row | {"seconds": 0.5, "above_mb": 10.4}, "zero": row}
    found["tpt"] = row | {"seconds": 9.6, "above_mb": 137.0}
    made = list(methods_cost.table(found))
    assert made[2:] == [
        "| zero-shot | 0.5 | 0.25 | 4.0 | 10 MB | 0.1 |",
        "| zero | 2.0 | 1 | 4.0 | 100 MB | 1.0 |",
        "| tpt, 64 classes at a time | 9.6 | 4.8 | 4.0 | 137 MB | 1.4 |",
    ]
    written = rows_of(of_the_page("benchmarks.methods_cost"))
    assert made[:2] == written[:2]
    assert titles(methods_cost.table(dict.fromkeys(methods_cost.SHOWN, row) | {"zero": row})) == titles(written)


def test_the_line_above_a_table_has_the_machine_that_measured_and_its_loads(tmp_path):
    file = tmp_path / "kept.jsonl"
    lines = [{}, *({"unit": [i], "found": 1, "load": load} for i, load in enumerate((0.31, 2.04)))]
    lines.append({"unit": ["machine"], "found": "Another processor (VNNI), 8 cores", "load": 1.0})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert measured_on(Kept(file, {})) == "Another processor (VNNI), 8 cores, load 0.3 to 2.0"


def test_asking_again_is_told_by_image():
    made = list(ask_again.table([("features", 3, 1000, (0.25, 0.18)), ("encoded bytes", 3, 20, (1.0, 0.96))]))
    assert made[:2] == of_the_page("benchmarks.ask_again")[:2]
    assert made[2:] == [
        "| features | 3 | 1,000 | 0.00025 | 0.00018 |",
        "| encoded bytes | 3 | 20 | 0.05000 | 0.04800 |",
    ]
