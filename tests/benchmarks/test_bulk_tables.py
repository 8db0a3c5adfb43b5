"""The tables of docs/results/bulk.md, from measurements made up by hand."""

import pytest

from benchmarks import bulk_memory, bulk_ray
from benchmarks.bulk_rate import ROWS, Row, cost_table, digits, reading_table
from benchmarks.bulk_ray import seconds_of
from tests.benchmarks.test_sections import of_the_page, titles


def rows_of(lines):
    """The table alone, without the line above it."""
    return [line for line in lines if line.startswith("|")]


def memory(core, views=6.12):
    return {"memory": {"core": core, "wall": core / 2, "views_used": views, "kB": 21.0, "labels": 998}}


def test_core_hours_and_dollars_follow_from_the_median_of_the_rounds():
    row = Row("pocket", "adaptive", 100, 3)
    made = list(cost_table([(row, [memory(1.8), memory(9.0), memory(0.9)])]))
    # 1.8 s of 100 images: 0.018 each, 1.8 million seconds of 100 million, 500 hours, 25 USD
    assert made[2:] == ["| `pocket` | adaptive, anchored vote | 6.1 | 100 | 0.018 | 500 | 0.25 |"]
    written = rows_of(of_the_page("benchmarks.bulk_rate", "cost"))
    assert made[:2] == written[:2]
    titled = list(cost_table([(row, [memory(1.0)]) for row in ROWS]))
    assert [line.split(" | ")[:2] for line in titled] == [line.split(" | ")[:2] for line in written]


@pytest.mark.parametrize(
    ("value", "n", "text"),
    [(105555.0, 3, "106,000"), (0.02231, 2, "0.022"), (3.84, 2, "3.8"), (52.8, 2, "53"), (619.6, 3, "620")],
)
def test_digits_are_rounded_and_never_an_exponent(value, n, text):
    assert digits(value, n) == text


def test_reading_is_compared_with_memory_in_the_same_round():
    rounds = [
        memory(1.0)
        | {"tar": {"core": 1.25, "wall": 0.5, "row_bytes": 120.4}}
        | {"parquet": {"core": 1.0, "wall": 1.0, "row_bytes": 119.6}},
        memory(2.0)
        | {"tar": {"core": 2.0, "wall": 1.0, "row_bytes": 120.4}}
        | {"parquet": {"core": 2.0, "wall": 1.0, "row_bytes": 119.6}},
    ]
    made = list(reading_table(rounds))
    assert made[2:] == ["| a tar shard | 90.0% | 100.0% | 120 |", "| a Parquet file | 100.0% | 75.0% | 120 |"]
    written = rows_of(of_the_page("benchmarks.bulk_rate", "reading"))
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)


def test_actors_are_compared_with_processes_in_the_same_round():
    found = {
        "processes": [{"start": 3.0, "wall": 10.0, "core": 9.0}, {"start": 3.2, "wall": 20.0, "core": 9.0}],
        "ray": [{"start": 9.0, "wall": 8.0, "core": 10.0}, {"start": 9.0, "wall": 20.0, "core": 9.0}],
    }
    made = list(bulk_ray.table(found, 100))
    assert made[2:] == [
        "| two processes of one thread | 3.1 | 0.1500 | 0.0900 | 100% | 100% |",
        "| two Ray actors of one core | 9.0 | 0.1400 | 0.0950 | 112% | 95% |",
    ]
    written = rows_of(of_the_page("benchmarks.bulk_ray"))
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)


def test_a_worker_is_timed_from_its_first_shard_to_the_last_part_of_all(tmp_path):
    part = tmp_path / "part.parquet"
    part.touch()
    end = part.stat().st_mtime_ns
    for process, begun in (("1", end - 3 * 10**9), ("2", end - 2 * 10**9)):
        (tmp_path / process).write_text(f"{begun} {10**9}")
        (tmp_path / f"{process}.end").write_text(str(2 * 10**9))
    asked = end - 4 * 10**9
    assert seconds_of(tmp_path, [part], asked) == pytest.approx({"start": 1.0, "wall": 5.0, "core": 2.0})


def test_memory_has_a_row_for_each_source_and_a_column_for_each_sink():
    peaks = {(source, sink): [60.04, 61.06] for source in bulk_memory.SOURCES for sink in bulk_memory.SINKS}
    peaks["tar", "csv"] = [63.4, 65.1]
    made = list(bulk_memory.memory_table(peaks))
    assert made[2] == "| tar | 60.0 -> 61.1 | 60.0 -> 61.1 | 63.4 -> 65.1 |"
    written = rows_of(of_the_page("benchmarks.bulk_memory", "sources"))
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)


def test_a_million_names_are_one_row():
    made = list(bulk_memory.names_table(1_000_000, {"wall": 1.44, "core": 1.51, "mb": 66.4}))
    assert made[2] == "| 1,000,000 | 1.4 | 1.5 | 66 |"
    assert made[:2] == of_the_page("benchmarks.bulk_memory", "names")[:2]
