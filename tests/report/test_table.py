"""Tables: rows, cells and averages by hand; and what may be called reproduced."""

import csv
import io
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.report.run_folders import answers, odd_table, voted, write_run
from viewvote.datasets import suite
from viewvote.errors import UnknownNameError, UsageError
from viewvote.metrics.rescore import Setting, rescore
from viewvote.rates import wilson_interval
from viewvote.records.record import failed_record
from viewvote.report.derived import derived_runs
from viewvote.report.formats.render import FORMATS, render
from viewvote.report.layouts import find_layout
from viewvote.report.table import build_table
from viewvote.runs.read import load_runs

B16 = "open_clip:ViT-B-16/openai"


def table_of(tmp_path, layout="nds"):
    return build_table(load_runs([tmp_path]), layout=find_layout(layout))


def test_seeds_share_a_cell_and_settings_a_row(tmp_path):
    write_run(tmp_path / "0", answers(60, 40), dataset="imagenet-a", model=B16, seed=0)
    write_run(tmp_path / "1", answers(70, 30), dataset="imagenet-a", model=B16, seed=1)
    write_run(tmp_path / "2", answers(50, 50), dataset="imagenet-r", model=B16, seed=0)
    write_run(tmp_path / "3", answers(50, 50), dataset="imagenet-r", model=B16, method="zero-shot")
    table = table_of(tmp_path)
    assert [row.title for row in table.rows] == ["zero", "zero-shot"]
    cell = table.rows[0].cells["imagenet-a"]
    assert (cell.rate.value, cell.rate.n) == (pytest.approx(0.65), 100)
    assert (cell.seeds.std, cell.seeds.seeds) == (pytest.approx(np.std([0.6, 0.7], ddof=1)), 2)
    assert cell.top5.value == pytest.approx(0.65)
    assert cell.seconds_per_image == pytest.approx(0.1)
    assert cell.peak_memory_mb == 500.0
    assert set(table.rows[0].cells) == {"imagenet-a", "imagenet-r"}
    assert table.rows[0].averages == {"Mean (5 sets)": None, "OOD-4": None}


def test_rows_that_saw_other_test_images_are_marked_and_the_note_names_what_that_is(tmp_path):
    write_run(tmp_path / "0", answers(60, 40), dataset="imagenet-a", model=B16)
    write_run(tmp_path / "1", answers(70, 30), dataset="imagenet-a", model=B16, method="tda")
    write_run(tmp_path / "2", answers(70, 30), dataset="imagenet-a", model=B16, method="context")
    table = table_of(tmp_path)
    assert [row.title for row in table.rows] == ["zero", "tda †", "context †"]
    assert any("† uses the test set's other images" in note for note in table.notes)
    write_run(tmp_path / "alone" / "0", answers(60, 40), dataset="imagenet-a", model=B16)
    assert not any("†" in note for note in table_of(tmp_path / "alone").notes)
    assert "$\\dagger$" in render(table, "latex")


def test_averages_over_four_and_five_sets_and_the_median(tmp_path):
    for i, name in enumerate(suite("nds")):
        write_run(tmp_path / "nds" / name, answers(50 + 10 * i, 50 - 10 * i), dataset=name, model=B16)
    row = table_of(tmp_path / "nds").rows[0]
    assert row.averages["Mean (5 sets)"].value == pytest.approx(0.7)
    assert row.averages["OOD-4"].value == pytest.approx(0.75)
    assert row.published_averages == {"Mean (5 sets)": pytest.approx(63.74), "OOD-4": pytest.approx(62.3475)}
    halves = [np.subtract(*wilson_interval(50 + 10 * i, 100)[::-1]) / 2 for i in range(5)]
    found = row.averages["Mean (5 sets)"]
    assert (found.high - found.low) / 2 == pytest.approx(np.sqrt(np.square(halves).sum()) / 5, rel=0.05)

    for i, name in enumerate(suite("fine-grained")):
        write_run(tmp_path / "fg" / name, answers(10 * i, 100 - 10 * i), dataset=name, model=B16)
    row = table_of(tmp_path / "fg", "fine-grained").rows[0]
    assert row.averages["Median"].value == pytest.approx(0.45)
    assert row.averages["Median"].low < 0.45 < row.averages["Median"].high
    assert row.published_averages["Median"] == pytest.approx(67.725)


def test_reproduced_is_a_full_split_of_the_same_experiment_with_the_published_value_inside(tmp_path):
    write_run(tmp_path / "a", answers(596, 404), dataset="imagenet-a", model=B16)  # published: 59.61
    write_run(tmp_path / "r", answers(500, 500), dataset="imagenet-r", model=B16)  # published: 77.22
    write_run(tmp_path / "v", answers(641, 359), dataset="imagenet-v2", model=B16, subset=True)  # published: 64.16
    write_run(tmp_path / "p", answers(596, 404), dataset="imagenet-a", model="pocket")
    first, pocket = table_of(tmp_path).rows
    assert first.cells["imagenet-a"].verdict == "reproduced"
    assert first.cells["imagenet-r"].verdict == "differs by -27.22"
    assert first.cells["imagenet-v2"].verdict == "subset"
    assert pocket.cells["imagenet-a"].verdict == "another experiment"


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(
    "change", [{"subset": True}, {"complete": False}, {"model": "pocket"}, {"views": 8}, {"size": 999}]
)
def test_nothing_else_is_ever_called_reproduced(tmp_path, fmt, change):
    write_run(tmp_path / "a", answers(596, 404), **({"dataset": "imagenet-a", "model": B16} | change))
    assert "reproduced" not in render(table_of(tmp_path), fmt).lower()


def test_notes_tell_other_experiments_unfinished_runs_unusable_images_and_what_is_not_shown(tmp_path):
    records = [*answers(3, 1), failed_record(OSError("gone"), key="gone", target=0)]
    write_run(tmp_path / "a", records, dataset="imagenet-a", complete=False)
    write_run(tmp_path / "b", answers(1, 1), dataset="holiday")
    table = table_of(tmp_path)
    notes = " ".join(table.notes)
    assert "different here: the model (pocket)" in notes
    assert table.rows[0].cells["imagenet-a"].split == "not complete"
    assert "Unusable images" in notes
    assert "Not in this layout: holiday" in notes
    assert table.rows[0].cells["imagenet-a"].rate.errors == 1
    assert "1 unusable" in render(table, "markdown")


def test_the_run_over_the_most_samples_is_shown_and_trials_are_named_in_the_notes(tmp_path):
    write_run(tmp_path / "a-trial", answers(2, 2), limit=4, subset=True)
    write_run(tmp_path / "b-before", answers(5, 0), fingerprint="before files were added")
    write_run(tmp_path / "c-whole", answers(30, 10))
    write_run(tmp_path / "d-whole", answers(20, 20), seed=1)
    table = table_of(tmp_path, "free")
    cell = table.rows[0].cells["pets"]
    assert (cell.rate.value, cell.rate.n, cell.seeds.seeds, cell.split) == (0.625, 40, 2, "full split")
    assert table.notes[-1].endswith("over the most samples are shown; left out: a-trial (4), b-before (5).")


def test_a_trial_is_shown_while_the_whole_run_has_hardly_begun(tmp_path):
    write_run(tmp_path / "trial", answers(3, 1), limit=4, subset=True)
    write_run(tmp_path / "whole", answers(1, 0), complete=False)
    table = table_of(tmp_path, "free")
    assert table.rows[0].cells["pets"].split == "subset"
    assert "whole (1)" in table.notes[-1]


def test_runs_that_cannot_share_a_cell_are_refused(tmp_path):
    write_run(tmp_path / "a", answers(3, 1))
    write_run(tmp_path / "b", answers(3, 1), device="cuda")
    with pytest.raises(UsageError, match="same cell and seed"):
        table_of(tmp_path, "free")


def test_runs_without_a_record_are_left_out_and_named(tmp_path):
    write_run(tmp_path / "a", answers(3, 1))
    write_run(tmp_path / "b-failed", [], dataset="cars", model="nosuch", complete=False)
    table = table_of(tmp_path, "free")
    assert (table.datasets, len(table.rows)) == (("pets",), 1)
    assert table.notes[-1] == "Without a record, so left out: b-failed."
    with pytest.raises(UsageError, match="none of the runs has a record yet"):
        table_of(tmp_path / "b-failed", "free")


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_run_whose_images_are_all_unusable_has_no_rate_to_show(tmp_path, fmt):
    broken = [failed_record(OSError("gone"), key=str(i), target=0) for i in range(3)]
    write_run(tmp_path / "a", broken)
    write_run(tmp_path / "b", answers(3, 1), dataset="cars")
    table = table_of(tmp_path, "free")
    assert table.rows[0].averages == {"Mean": None}
    assert "nan" not in render(table, fmt).lower()
    if fmt in ("markdown", "html", "latex"):
        assert "3 unusable" in render(table, fmt)


def test_two_datasets_of_one_name_are_refused(tmp_path):
    for place in ("old", "new"):
        write_run(tmp_path / place, answers(3, 1), dataset=f"/{place}/pets", fingerprint=place, complete=False)
    with pytest.raises(UsageError, match="different datasets are called 'pets'"):
        table_of(tmp_path, "free")


def test_layouts_without_a_run_and_unknown_ones_are_refused(tmp_path):
    write_run(tmp_path / "a", answers(3, 1))
    with pytest.raises(UsageError, match="--layout free"):
        table_of(tmp_path, "nds")
    with pytest.raises(UnknownNameError, match="layout"):
        table_of(tmp_path, "ndx")


def test_markdown_has_one_line_per_row_and_escapes_its_marks(tmp_path):
    lines = render(odd_table(tmp_path), "markdown").splitlines()
    assert lines[0] == r"| Method | a\_b & \<c>\|% |"
    assert lines[2].count(" | ") == 1
    assert r"hf:x/y\_z$" in lines[2]
    assert "75.00<br>[65.70, 82.45]<br>n 100, full split, 1 seed" in lines[2]


def test_html_is_one_well_formed_file_that_loads_nothing(tmp_path):
    text = render(odd_table(tmp_path), "html")
    assert "<c>" not in text
    assert "a_b &amp; &lt;c&gt;|%" in text
    assert not any(mark in text for mark in ("src=", "href=", "<script", "@import", "url("))
    open_tags = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Checker().feed(text)
    assert open_tags == []


def test_csv_and_json_hold_the_numbers(tmp_path):
    write_run(tmp_path / "0", answers(60, 40), dataset="imagenet-a", model=B16, seed=0)
    write_run(tmp_path / "1", answers(70, 30), dataset="imagenet-a", model=B16, seed=1)
    table = table_of(tmp_path)
    (line,) = csv.DictReader(io.StringIO(render(table, "csv")))
    assert (line["dataset"], line["n"], line["seeds"]) == ("imagenet-a", "100", "2")
    assert float(line["top1"]) == pytest.approx(0.65)
    assert (line["published"], line["split"]) == ("59.61", "full split")
    told = json.loads(render(table, "json"))
    assert told["rows"][0]["cells"]["imagenet-a"]["rate"]["n"] == 100
    assert told["rows"][0]["match"]["row"]["values"]["imagenet-a"] == 59.61


def test_the_published_row_follows_ours(tmp_path):
    write_run(tmp_path / "0", answers(60, 40), dataset="imagenet-a", model=B16)
    lines = render(table_of(tmp_path), "markdown").splitlines()
    assert lines[0] == "| Method | ImageNet | A | V2 | R | Sketch | Mean (5 sets) | OOD-4 |"
    assert lines[3] == (
        "| paper: Zero, CLIP-ViT-B-16 | 69.31 ±0.13 | 59.61 ±0.19 | 64.16 ±0.03 | 77.22 ±0.05 | 48.40 ±0.07 "
        "| 63.74 | 62.35 |"
    )


def test_maples_three_weight_files_are_seeds_of_one_row(tmp_path):
    for i, right in enumerate((60, 62, 64)):
        name = f"maple:maple_seed{i + 1}.pth@{B16}"
        write_run(tmp_path / str(i), answers(right, 100 - right), dataset="imagenet-a", model=name, seed=i)
    (row,) = table_of(tmp_path).rows
    assert row.model == f"maple:*@{B16}"
    cell = row.cells["imagenet-a"]
    assert (cell.seeds.seeds, cell.seeds.std, cell.rate.value) == (3, pytest.approx(0.02), pytest.approx(0.62))
    assert (row.match.title, row.match.differences) == ("Zero, MaPLe", ())


def test_one_weight_file_under_two_names_is_one_seed(tmp_path):
    for i, content in enumerate(("maple-a", "maple-b", "maple-a")):
        name = f"maple:copy{i}.pth@{B16}"
        folder = write_run(tmp_path / str(i), answers(60, 40), dataset="imagenet-a", model=name, seed=0)
        (folder / "environment.json").write_text(json.dumps({"model_fingerprint": content}))
    (row,) = build_table(load_runs([tmp_path / "0", tmp_path / "1"]), layout=find_layout("nds")).rows
    assert row.cells["imagenet-a"].seeds.seeds == 2
    with pytest.raises(UsageError, match="same cell and seed"):
        table_of(tmp_path)


def test_rescored_results_enter_a_table_as_rows_of_their_own(tmp_path):
    write_run(tmp_path / "a", voted(40), dataset="imagenet-a", model=B16, views=12)
    runs = load_runs([tmp_path])
    table = build_table([*runs, *derived_runs(runs, ["zero-shot", "keep=0.1"])], layout=find_layout("nds"))
    assert [row.title for row in table.rows] == ["zero (views 12)", "zero-shot (views 12)", "zero (views 12, keep 0.1)"]
    plain, strict = (row.cells["imagenet-a"] for row in table.rows[1:])
    for cell, setting in ((plain, None), (strict, Setting(12, 0.1))):
        (scored,) = rescore(runs[0].records, [setting])
        assert (cell.rate.value, cell.rate.n) == (pytest.approx(scored.correct.mean()), 40)
    assert np.isnan(strict.top5.value)
    assert plain.top5.value >= plain.rate.value
    assert table.rows[1].match.title == "Zero-Shot, CLIP-ViT-B-16"
    assert "left out" not in " ".join(table.notes)
    assert derived_runs(runs, ["keep=0.3"]) == []
    with pytest.raises(UsageError, match="keep=SHARE"):
        derived_runs(runs, ["keep"])


def headed(folder, dataset, *, head, right, **spec):
    spec = {"text_head": f"/heads/{head}.npy", "text_head_fingerprint": head, **spec}
    return write_run(folder, answers(right, 10 - right), dataset=dataset, model="clip-b16", **spec)


def test_each_dataset_of_a_row_has_its_own_text_head(tmp_path):
    for i, dataset in enumerate(("imagenet-a", "imagenet-r")):
        headed(tmp_path / "runs" / dataset, dataset, head=f"of-{dataset}", right=5 + i, text_head_model=B16)
    (row,) = table_of(tmp_path / "runs").rows
    assert [cell.rate.value for cell in row.cells.values()] == [0.5, 0.6]
    assert {cell.verdict.split(":")[0] for cell in row.cells.values()} == {"int8 tower"}
    headed(tmp_path / "runs" / "more", "imagenet-a", head="of-words", right=1, text_head_model="clip-b16")
    assert len(table_of(tmp_path / "runs").rows) == 2


def test_two_text_heads_of_one_dataset_are_two_rows(tmp_path):
    for right, head in ((5, "one"), (6, "two")):
        headed(tmp_path / "runs" / head, "imagenet-a", head=head, right=right)
    rows = table_of(tmp_path / "runs").rows
    assert sorted(row.cells["imagenet-a"].rate.value for row in rows) == [0.5, 0.6]


def test_vectors_that_name_the_papers_texts_share_the_row_of_those_that_name_none(tmp_path):
    headed(tmp_path / "runs" / "a", "imagenet-a", head="a", right=5, templates=["a photo of a {}."])
    headed(tmp_path / "runs" / "b", "imagenet-r", head="b", right=5)
    (row,) = table_of(tmp_path / "runs").rows
    assert row.title == "zero (text_head given)"
