"""The tables of docs/results/reliability.md: added up by hand, and in the form of the page."""

import pytest

from benchmarks import bulk_kills, campaigns, flat_memory, kill_service, kill_trials
from benchmarks.sections import END, section
from fuzz import peak


def of_the_page(command):
    """The lines that the page has between the marks of a command."""
    place = section(command, write=True)
    assert place.page.match("results/reliability.md")
    return place.page.read_text(encoding="utf-8").split(place.mark)[1].split(END)[0].strip().splitlines()


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "LEDGER", tmp_path / "kills.jsonl")
    monkeypatch.setattr(campaigns, "version", lambda: "abc")
    return tmp_path / "kills.jsonl"


def trial(**more):
    return {"images": 60, "views": 4, "model": "toy", "method": "zero", "kills": 25, "runs": 3, **more}


def test_a_campaign_is_one_line_of_the_ledger_and_the_next_takes_another_seed(ledger):
    assert (campaigns.campaigns("eval"), campaigns.next_seed("eval")) == ([], 0)
    line = campaigns.add_campaign("eval", 0, {"kills": 3})
    campaigns.add_campaign("serve", 7, {"kills": 1})
    assert line == {"command": "eval", "version": "abc", "seed": 0, "kills": 3}
    assert campaigns.campaigns("eval") == [line]
    assert [campaigns.next_seed(command) for command in ("eval", "serve", "tables")] == [1, 8, 0]
    assert len(ledger.read_text().splitlines()) == 2


def test_kills_of_commands_add_up_by_command_and_size(ledger):
    campaigns.add_campaign("eval", 0, trial(kills_while_writing=9, power_losses=4, torn_lines=2, lost=1))
    campaigns.add_campaign("classify", 0, trial(kills_while_writing=1, duplicated=5, runs_that_differ=2))
    campaigns.add_campaign("eval", 1, trial(kills=2000, kills_while_writing=1, torn_lines=1))
    campaigns.add_campaign("ray", 0, trial(images=1000))
    made = list(kill_trials.table(campaigns.campaigns(*kill_trials.COMMANDS)))
    assert made[:2] == of_the_page("benchmarks.kill_trials")[:2]
    assert made[2:] == [
        "| `eval` | 60 | 4 | 2,025 | 10 | 4 | 3 | 1 | 0 | 0 of 6 | abc |",
        "| `classify` | 60 | 4 | 25 | 1 | 0 | 0 | 0 | 5 | 2 of 3 | abc |",
        "| `eval --engine ray` | 1,000 | 4 | 25 | 0 | 0 | 0 | 0 | 0 | 0 of 3 | abc |",
    ]


def test_kills_of_the_service_add_up_to_one_row(ledger, monkeypatch):
    campaigns.add_campaign("serve", 0, {"kills": 20, "while_starting": 2, "answers": 900, "cut_off": 50})
    monkeypatch.setattr(campaigns, "version", lambda: "def")
    campaigns.add_campaign("serve", 1, {"kills": 10, "answers": 200, "answers_that_differ": 1, "files_left": 3})
    made = list(kill_service.table(campaigns.campaigns("serve")))
    assert made[:2] == of_the_page("benchmarks.kill_service")[:2]
    assert made[2:] == ["| `serve` | 30 | 2 | 1,100 | 50 | 1 | 3 | 0 | abc, def |"]


def test_kills_of_tables_add_up_by_engine(ledger):
    found = {"engine": "local", "images": 360, "drivers killed": 12, "tables": 2, "requests": 3000, "failed": 150}
    campaigns.add_campaign("tables", 0, found | {"cut": 90, "lost": 1, "exit 0": 1})
    campaigns.add_campaign("tables", 1, found | {"engine": "ray", "workers killed": 5})
    made = list(bulk_kills.table(campaigns.campaigns("tables")))
    assert made[:2] == of_the_page("benchmarks.bulk_kills")[:2]
    assert made[2:] == [
        "| local | 360 | 12 | 0 | 2 | 3,000 | 150 | 90 | 1 | 0 | 0 | 0 | abc |",
        "| ray | 360 | 12 | 5 | 2 | 3,000 | 150 | 0 | 0 | 0 | 0 | 0 | abc |",
    ]


def test_a_table_is_compared_with_the_one_that_nobody_interrupted():
    whole = {"a": ["red"], "b": ["green"], "c": ["blue"]}
    found = {"a": ["red"], "b": ["red", "green"], "d": ["red"]}
    assert bulk_kills.compare(found, whole) == {"lost": 1, "added": 1, "twice": 1, "other answers": 1}
    assert not any(bulk_kills.compare(whole, whole).values())


@pytest.mark.parametrize("command", ["kill_trials", "kill_service", "bulk_kills"])
def test_the_ledger_makes_the_table_of_the_page(command):
    module = {"kill_trials": kill_trials, "kill_service": kill_service, "bulk_kills": bulk_kills}[command]
    names = {"kill_trials": kill_trials.COMMANDS, "kill_service": ["serve"], "bulk_kills": ["tables"]}[command]
    assert list(module.table(campaigns.campaigns(*names))) == of_the_page(f"benchmarks.{command}")


def test_memory_of_a_long_run_is_in_the_form_of_the_page():
    rows = [{"done": 2000, "resident_mb": 58.14, "peak_mb": 60.0}]
    made = list(flat_memory.table({"rows": rows, "records_mb": 19.2, "version": "abc"}))
    written = of_the_page("benchmarks.flat_memory")
    assert made[:2] == written[:2]
    assert made[2:] == ["| 2,000 | 58.1 MB | 60.0 MB |", "", "The records grew to 19 MB (n = 1 run, version abc)."]
    assert written[-1].startswith("The records grew to ")


def test_memory_of_decoding_is_in_the_form_of_the_page():
    found = {title: [{"1": 100.0, "4": 60.0}] for title in peak.FILES}
    found["WebP"] = [{"1": 9.0, "4": 6.0}, {"1": 50.4, "4": 24.0}, {"1": 80.0, "4": 90.0}]
    made, written = list(peak.table(found)), of_the_page("fuzz.peak")
    assert made[:2] == written[:2]
    assert made[2] == "| WebP | 3 | 50 MB | 24 MB | 2.0 bytes |"  # 24 MB of 12 million pixels
    assert {line.split(" | ")[0] for line in made} == {line.split(" | ")[0] for line in written}


@pytest.mark.parametrize("title", peak.FILES)
def test_every_kind_of_file_is_written_so_that_it_opens(title):
    pytest.importorskip("PIL._avif" if title == "AVIF" else "PIL")
    from viewvote.images.photo import open_photo

    assert open_photo(peak.written(title, (64, 48))).full().size == (64, 48)
