"""The records of the long CLIP measurement: what is committed can be read, and a killed run goes on."""

import json

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
from benchmarks.compare import Row
from benchmarks.real_clip import CASCADES, MEASURED, METHODS_SHOWN, RECORDS, holm, paired_table, read, rows_of


def line(name, target, said):
    answers = {title: [said, 0.5, 0.5] for title in (*METHODS_SHOWN, *CASCADES)}
    return {"image": f"{name}/a/b.jpg", "target": target, "answers": answers}


def test_the_committed_records_are_of_known_sets_and_every_image_once():
    lines = read(RECORDS)
    images = [one["image"] for one in lines]
    assert len(images) == len(set(images)) > 100
    assert {image.split("/")[0] for image in images} == set(MEASURED)
    assert all(set(one["answers"]) == {*METHODS_SHOWN, *CASCADES} for one in lines)


def test_rows_are_right_where_the_answer_is_the_target():
    rows = list(rows_of([line("eurosat", 1, 1), line("imagenet", 2, 3), line("imagenet", 3, 3)]))
    assert [row.dataset for row in rows[:: len(rows) // 2]] == ["imagenet", "eurosat"]
    assert rows[0].method == "zero-shot"
    assert rows[0].right.tolist() == [False, True]
    assert rows[-1].right.tolist() == [True]


def test_a_cut_line_is_dropped_and_other_models_are_refused(tmp_path):
    path = tmp_path / "records.jsonl"
    assert read(path) == []
    whole = json.dumps({"models": {"pocket": "a"}}) + "\n" + json.dumps(line("eurosat", 1, 1)) + "\n"
    path.write_text(whole + '{"image": "euro')
    assert [one["target"] for one in read(path, {"pocket": "a"})] == [1]
    assert path.read_text() == whole
    with pytest.raises(SystemExit, match="answers of other models"):
        read(path, {"pocket": "b"})
    path.write_text('{"mod')
    assert read(path) == []


def test_holm_multiplies_the_least_by_all_the_next_by_one_less():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])  # 0.04 x 1 may not fall below 0.03 x 2
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_paired_table_counts_gains_and_losses_and_marks_what_is_beyond_chance():
    right = {
        "zero-shot": [1] * 12 + [0],
        "worse": [0] * 12 + [0],
        "seven": [0] * 7 + [1] * 5 + [0],
        "equal": [0, *[1] * 12],
    }
    rows = [Row("eurosat", name, np.array(hits, bool), np.zeros(13), np.zeros(13)) for name, hits in right.items()]
    head, _, line = paired_table(rows).splitlines()
    assert head == "| set | n | worse | seven | equal |"
    assert line == "| eurosat | 13 | 0 / 12** | 0 / 7** | 1 / 1 |"  # mid-p 1/2^12, 1/2^7 = 0.0078 and twice that, 1
    pair = [*rows[:2], Row("eurosat", "five", np.array([0] * 5 + [1] * 7 + [0], bool), np.zeros(13), np.zeros(13))]
    assert paired_table(pair).splitlines()[-1].endswith("| 0 / 5** |")  # 1/2^5 = 0.031, the larger of two p-values
    many = [*rows, Row("eurosat", "five", pair[-1].right, np.zeros(13), np.zeros(13))]
    assert paired_table(many).splitlines()[-1].endswith("| 0 / 5* |")  # 0.031 x 2 is beyond the level
