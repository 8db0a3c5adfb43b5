"""The container file: it runs the service as nobody, offline, and with arguments that there are."""

import json
import re
from pathlib import Path

import pytest

from tests.server.living import free_port, png
from tests.server.test_process import serving

ROOT = Path(__file__).parents[2]
FILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
LAST_STAGE = FILE[FILE.rindex("\nFROM ") :]


def instruction(name):
    return re.findall(rf"^{name} (.*)$", LAST_STAGE, flags=re.MULTILINE)


def test_it_runs_as_nobody_and_offline():
    (user,) = instruction("USER")
    assert all(int(part) > 0 for part in user.split(":"))
    assert "HF_HUB_OFFLINE=1" in LAST_STAGE
    assert "RUN" not in LAST_STAGE


def test_what_it_copies_is_there():
    for line in re.findall(r"^COPY (?!--from)(.*)$", FILE, flags=re.MULTILINE):
        assert all((ROOT / source).exists() for source in line.split()[:-1]), line


def test_its_command_starts_a_service_that_wants_a_key(tmp_path):
    (entry,), (arguments,) = instruction("ENTRYPOINT"), instruction("CMD")
    assert json.loads(entry) == ["viewvote", "serve"]
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-more-than-sixteen-characters\n")
    given = [str(keys) if arg.startswith("/run/secrets") else arg for arg in json.loads(arguments)]
    given[given.index("8008")] = str(free_port())
    with serving("--model", "toy", *given) as (_, client):
        assert client.classify(png(), labels=["red", "blue"]).status == 401
        client.headers = {"X-API-Key": keys.read_text().strip()}
        assert client.classify(png(), labels=["red", "blue"]).json["predictions"][0]["label"] == "red"


@pytest.mark.parametrize("line", instruction("HEALTHCHECK"))
def test_its_health_check_asks_the_port_it_serves(line):
    (arguments,) = instruction("CMD")
    assert f":{json.loads(arguments)[3]}/health/ready" in line
