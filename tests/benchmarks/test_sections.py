"""Each table of the pages is put in its place by the command that its marks name, in the form that it has there."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import packages, pocket_cost, sections
from benchmarks.cascade_stop import table as cascade_table
from benchmarks.compare import METHODS_SHOWN, Row
from benchmarks.compare import table as compare_table
from benchmarks.compare_tuning import HEADING
from benchmarks.context import FIXED, GRID, by_mix, by_set, signed, table_of
from benchmarks.real_clip import RECORDS, read, show
from benchmarks.sections import BEGIN, DOCS, END, section
from benchmarks.selective import table as selective_table
from benchmarks.stages import ALL, REST, STAGES
from benchmarks.stages import table as stages_table
from benchmarks.votes import BLEND, WAYS
from benchmarks.votes import table as votes_table
from fuzz.ledger import tables as ledger_tables
from training.votes.fit_answers import none_table
from training.votes.fit_each import Scores
from training.votes.fit_each import table as each_table
from training.votes.fit_stops import TITLES
from training.votes.fit_stops import table as stops_table
from viewvote.classify.background import MarginFit
from viewvote.studies.mixes import MIXES

PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BEGIN.search(page.read_text(encoding="utf-8"))]
BEFORE, AFTER = "before\n\n| a |\n|---|\n| 1 |\n\n", "\n\nafter\n\n<!-- written -->\n"
RIGHT = np.array([True] * 6 + [False] * 4)
BETTER = np.array([True] * 9 + [False])


def of_the_page(command, part=""):
    """The lines that the pages have between the marks of a command."""
    place = section(command, part, write=True)
    text = place.page.read_text(encoding="utf-8").split(place.mark)[1].split(END)[0]
    return text.strip().splitlines()


def titles(lines):
    return [line.split(" | ")[0] for line in lines]


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.setattr(sections, "DOCS", tmp_path)
    (tmp_path / "other.md").write_text("nothing\n")
    return tmp_path


def test_only_what_is_between_the_marks_is_replaced(docs, capsys):
    page = docs / "results" / "page.md"
    page.parent.mkdir()
    mark, second = (
        "<!-- python -m benchmarks.votes --write: pocket -->",
        "<!-- python -m benchmarks.votes --write: b -->",
    )
    text = f"{BEFORE}{mark}\n\nold\n\n{END}\n{second}\nkept\n{AFTER}"
    page.write_text(text)
    section("benchmarks.votes", "pocket", write=False).show(["printed"])
    assert page.read_text() == text
    assert capsys.readouterr().out == "printed\n"
    for new in ("new", "newer"):
        section("benchmarks.votes", "pocket", write=True).show(["| a |", "|---|", f"| {new} |"])
    assert page.read_text() == text.replace("\nold\n", "\n| a |\n|---|\n| newer |\n")
    assert (docs / "other.md").read_text() == "nothing\n"


def test_a_table_without_a_place_is_told_before_anything_is_measured(docs):
    with pytest.raises(SystemExit, match=r"the line <!-- python -m benchmarks\.votes --write: siglip -->.*found: none"):
        section("benchmarks.votes", "siglip", write=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_marks_are_pairs_that_name_a_command_with_the_option(page):
    text = page.read_text(encoding="utf-8")
    pieces = re.split(f"({BEGIN.pattern}|{re.escape(END)})", text)
    marks = [piece for piece in pieces if piece and piece.startswith("<!--")]
    assert marks[1::2] == [END] * len(marks[0::2])
    assert len(set(marks[0::2])) == len(marks[0::2])
    for mark in marks[0::2]:
        command, part = BEGIN.fullmatch(mark).groups()
        source = Path(importlib.util.find_spec(command).origin).read_text(encoding="utf-8")
        assert "add_write(parser)" in source, command
        assert f'section("{command}"' in source, command
        assert section(command, part or "", write=True).page == page


def test_the_votes_are_counted_and_in_the_form_of_the_page():
    right = {"zero-shot": RIGHT} | dict.fromkeys(WAYS, BETTER) | {BLEND: RIGHT}
    made = list(votes_table([("first", right), ("second", right | {"ZERO": RIGHT[::-1]})]))
    cells = "| +30.0 (3 / 0) " * len(WAYS) + "| +0.0 (0 / 0) |"
    assert made[2] == f"| first | 10 | 60.0% {cells}"
    assert made[3].split(" | ")[3] == "+0.0 (4 / 4)"
    assert made[4].startswith("| mean | | | +15.0 | +30.0 |")
    assert made[5].startswith("| worst | | | +0.0 | +30.0 |")
    for model in ("pocket", "clip-b16"):
        assert made[:2] == of_the_page("benchmarks.votes", model)[:2]
        assert titles(made)[-2:] == titles(of_the_page("benchmarks.votes", model))[-2:]


def test_the_thresholds_outcomes_are_in_the_form_of_the_page():
    found = {"n": 9, "views_used": 5.06, "agreement": 0.982, "accuracy": 0.787, "full_accuracy": 0.789}
    noise = {"train": found | {"seeds": 0.03}, "flowers": found}
    strict = {name: one | {"views_used": 8.9, "agreement": 0.997} for name, one in noise.items()}
    made = list(stops_table({vote: {"noise": noise, "strict": strict} for vote in TITLES}, ("noise", "strict")))
    each = "78.9% | 3.0% | 5.1, 1.8%, 78.7% | 8.9, 0.3%, 78.7%"
    assert made[2:] == [f"| train | 9 | {each} | {each} |", f"| flowers | 9 | {each} | {each} |".replace("3.0%", "-")]
    assert made[:2] == of_the_page("training.votes.fit_stops", "pocket")[:2]


def test_the_stages_are_in_the_form_of_the_page():
    run = dict.fromkeys((*STAGES, REST), 1.0) | {"views": 2.04}
    run[ALL] = float(len(STAGES) + 1)
    columns = [(size, n) for size in ("600 x 400", "12 megapixels") for n in (100, 1000)]
    made = list(stages_table({column: [run] for column in columns}))
    written = of_the_page("benchmarks.stages")
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)
    assert made[2].endswith("| 1.00 (7.7%) |")
    assert made[11].startswith("| vote, probability, prediction | 3.00 (23.1%) |")
    assert made[-3:-1] == ["| all | 13.00 | 13.00 | 13.00 | 13.00 |", "| views | 2.0 | 2.0 | 2.0 | 2.0 |"]
    assert made[-1].endswith("| 92% |")


def contexts(*, views):
    """A folder of each mix: zero-shot has 50 of 100, the others 60, and the rule 1 more of each."""
    before = [50.0, 60.0, 60.0] if views > 1 else [50.0] * 3
    each = [list(map(int, np.arange(100) < share)) for share in before]
    said = dict.fromkeys(("none", *FIXED, *(policy.name for policy in GRID)), before)
    said |= {"shipped": [share + 1 for share in before], "none each": each}
    said["shipped each"] = [list(map(int, np.arange(100) < share + 1)) for share in before]
    return [{"set": "a", "mix": mix, "n": 100, "share": 1.0, "views": views} | said for mix in MIXES]


@pytest.mark.parametrize(("model", "views"), [("pocket", 64), ("clip-b16", 16)])
def test_the_gains_of_context_are_in_the_form_of_the_page(model, views):
    rows = contexts(views=views)
    made = list(by_mix(model, rows, table_of(rows, GRID[0].name)))
    written = of_the_page("benchmarks.context", model)
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)
    rule = next(line for line in made if line.startswith(("| zero-shot, **the rule**", "| **the rule**")))
    assert rule.endswith("** | " + " | ".join(["+1.0 / +1.0"] * 6) + " |")
    if views > 1:
        assert "| zero, no context | +10.0 / +10.0 | +10.0 / +10.0 |  |  |  |  |" in made


def test_each_set_with_and_without_context_is_in_the_form_of_the_page():
    made = list(by_set({"pocket": contexts(views=64), "clip-b16": contexts(views=1)}))
    assert made[:2] == of_the_page("benchmarks.context", "sets")[:2]
    assert made[2:] == [
        "| embedded | a | 100 | 50.0 | 51.0 | 0.500 | 60.0 | 61.0 | 0.500 |",
        "| `clip-b16` | a | 100 | 50.0 | 51.0 | 0.500 |  |  |  |",
    ]


def test_nothing_has_no_sign():
    assert [signed(points) for points in (0.04, -0.04, 0.06, -0.06)] == ["0.0", "0.0", "+0.1", "-0.1"]


def test_the_recorded_answers_make_the_tables_of_the_page(capsys):
    show(read(RECORDS), write=False)
    printed = capsys.readouterr().out
    for part in ("accuracy", "paired"):
        assert "\n".join(of_the_page("benchmarks.real_clip", part)) + "\n" in printed


def test_a_cascade_is_in_the_form_of_the_page():
    rows = [(4, 2, 19, 1, 1, 1), (6, 2, 20, 1, 0, 0)]
    made = list(cascade_table({("anchored", "noise"): rows, ("zero", "strict"): rows}))
    assert made[:2] == of_the_page("benchmarks.cascade_stop")[:2]
    assert made[2] == "| anchored | `noise` | 5.0 | 2.0 (19.5) | 50.0% (9.5-90.5) | 50.0% (100.0%) |"
    assert made[3].startswith("| ZERO | `strict` | 5.0 |")


def test_who_knows_when_to_say_nothing_is_in_the_form_of_the_page():
    written = of_the_page("benchmarks.selective", "pocket")
    ways = written[0].strip("| ").split(" | ")[2:]
    sure = np.array([0.9, 0.8, 0.7, 0.6])
    said = {way: (sure, np.array([True, True, False, False])) for way in ways}
    made = list(selective_table([("first", said), ("second", dict.fromkeys(ways, (sure, sure > 0)))]))
    assert made[:2] == written[:2]
    # errors among the surest 1 to 4: 0, 0, 1/3 and 1/2, on average 0.208; two of four answers have none
    assert made[2] == "| first | 4 | " + " | ".join(["20.8 50%"] * len(ways)) + " |"
    assert made[3] == "| second | 4 | " + " | ".join(["0.0 100%"] * len(ways)) + " |"
    assert made[4] == "| mean | | " + " | ".join(["10.4 75%"] * len(ways)) + " |"


def test_methods_beside_each_other_are_in_the_form_of_the_page():
    sure = np.full(10, 0.5)
    rows = [Row("a", title, BETTER if title == "mta" else RIGHT, sure, sure) for title in METHODS_SHOWN]
    made = compare_table([row.to_dict(rows[0]) for row in rows]).splitlines()
    assert made[:2] == of_the_page("benchmarks.compare", "pocket")[:2]
    assert made[2].startswith("| a | 10 | 60.0 (31.3-83.2) | 60.0 ")
    assert of_the_page("benchmarks.compare_tuning")[0] == HEADING


def test_costs_are_in_the_form_of_the_page():
    measured = [(method, {"seconds": 0.02 * (i + 1), "mb": 308.4}) for i, method in enumerate(pocket_cost.MODES)]
    made, written = list(pocket_cost.table(measured)), of_the_page("benchmarks.pocket_cost")
    assert made[:2] == written[:2]
    assert [line.split(" | ")[:2] for line in made] == [line.split(" | ")[:2] for line in written]
    assert made[3] == "| ensemble | pocket | 0.040 | 2 | 308 MB |"
    first = {way: [9.0, 1.44] for way in packages.WAYS}
    made = list(packages.table(first, {title: [[9.0, 0.1, 900], [9.0, 0.3, 1076], [9.0, 0.2, 1]] for title in first}))
    written = of_the_page("benchmarks.packages")
    assert made[:2] == written[:2]
    assert titles(made) == titles(written)
    assert made[2] == "| viewvote, 1 view | 1.4 s | 0.20 s | 1,076 |"


@pytest.mark.parametrize("model", ["pocket", "clip-b16"])
def test_what_is_none_of_these_is_in_the_form_of_the_page(model):
    row = "| train | 3 | 80.0 | 4.7 | 31.1 | 32.0 |"
    assert list(none_table([row])) == [
        *of_the_page("training.votes.fit_answers", f"{model}, none of these")[:2],
        row,
    ]


@pytest.mark.parametrize("model", ["pocket", "clip-b16"])
def test_each_label_alone_is_in_the_form_of_the_page(model):
    made = list(each_table(MarginFit(1.0, 0.0, 0.0, 0.15), Scores(400, 2.04, 0.3, 0.25, 0.375)))
    assert made[:2] == of_the_page("training.votes.fit_each", model)[:2]
    assert made[2] == "| 400 | 37 | 2.0 | 0.15 | 0.300 | 0.250 | 0.375 |"


def test_the_campaigns_are_in_the_form_of_the_page():
    made, written = ledger_tables({}).splitlines(), of_the_page("fuzz.ledger")
    assert made[:2] == written[:2]
    assert made[-2] in written


MEASURED = re.compile(r"\| *[+-]?\d[\d.,]*( ?(%|s|ms|MB|kB)|\b[^|]*\([^|]*\d[^|]*\))? *(?=\|)")
"""A cell that is a figure, alone, with its unit, or with an interval or counts in brackets."""


@pytest.mark.parametrize("page", sorted((DOCS / "results").glob("*.md")), ids=lambda page: page.stem)
def test_every_table_of_figures_is_between_the_marks_of_its_command(page):
    text = page.read_text(encoding="utf-8")
    outside = re.sub(rf"{BEGIN.pattern}.*?{re.escape(END)}", "", text, flags=re.DOTALL)
    assert [line for line in outside.splitlines() if line.startswith("|") and MEASURED.search(line)] == []


@pytest.mark.parametrize("page", sorted((DOCS / "guides").glob("*.md")), ids=lambda page: page.stem)
def test_guides_have_no_tables_of_figures(page):
    assert not BEGIN.search(page.read_text(encoding="utf-8")), "measured tables are in docs/results"


def test_a_table_of_figures_is_recognised():
    for row in ("| imagenet | 370 | +1.6 (22 / 16) |", "| `pocket` | 0.45 s |", "| x | 74.3 (71.5-76.9)* | 12% |"):
        assert MEASURED.search(row)
    for row in (
        "| limit | default |",
        "|---|---|",
        "| rows with a teacher, Table 3's | CLIP ViT-L/14 |",
        "| a | `--views 4` |",
    ):
        assert not MEASURED.search(row)
