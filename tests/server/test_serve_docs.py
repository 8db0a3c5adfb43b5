"""docs/guides/serve.md names every option of the command and of a request, every route, event, error, and no other."""

import re
from pathlib import Path

import typer.main

from tests.server.living import png
from viewvote.cli.commands import app
from viewvote.server.options import Options
from viewvote.server.refusals import CODES

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "serve.md").read_text(encoding="utf-8")
UNSEEN = {"client_closed_request"}  # nobody is there to read it


def first_cells(heading):
    """What stands in backquotes in the first column of the table under a row of headings."""
    table = PAGE[PAGE.index(f"\n| {heading} |") :].lstrip("\n").split("\n\n")[0].splitlines()[2:]
    return [set(re.findall(r"`([^`]+)`", row.split("|")[1])) for row in table]


def test_every_option_of_the_command():
    command = typer.main.get_command(app).commands["serve"]
    known = {max(param.opts, key=len) for param in command.params} - {"--help"}
    assert set().union(*first_cells("option | meaning | default")) == known


def test_every_option_of_a_request():
    assert set().union(*first_cells("option | type | meaning")) == set(Options.model_fields)


def test_every_route(client):
    written = set(re.findall(r"`(?:GET|POST) (/[^`]*)`", PAGE)) | set().union(*first_cells("route | answer"))
    files = {"/openapi.json", "/static/{name}", "/examples/{name}"}  # are no part of the contract
    described = {path.replace("{model_id}", "{id}") for path in client.get("/openapi.json").json["paths"]}
    assert (written | {"/models/{id}"}) - files == described


def test_every_error_with_its_status():
    rows = re.findall(r"^\| ((?:\d{3}(?:, )?)+) \| (.*?) \|", PAGE, flags=re.M)
    found = {code: status for statuses, codes in rows for code, status in paired(statuses, codes)}
    assert found == {code: str(status) for code, status in CODES.items() if code not in UNSEEN}


def paired(statuses, codes):
    names, numbers = re.findall(r"`(\w+)`", codes), statuses.split(", ")
    return zip(names, numbers if len(numbers) > 1 else numbers * len(names), strict=True)


def test_every_event_of_a_stream(client):
    answer = client.classify(png(), b"no photo", path="/v1/classify/stream")
    assert set().union(*first_cells("event | when | data")) == {name for name, _ in answer.events}
