"""The records of the long CLIP measurement: what is committed can be read, and a killed run goes on."""

import json

import pytest

pytest.importorskip("onnxruntime")
from real_clip import CASCADES, MEASURED, METHODS_SHOWN, RECORDS, read, rows_of


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
