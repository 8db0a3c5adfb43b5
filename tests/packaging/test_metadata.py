"""What is written about the package in several files is the same in all of them."""

import datetime
import re
import tomllib
from pathlib import Path

import pytest

import viewvote

yaml = pytest.importorskip("yaml")
requirements = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
HOME = PROJECT["urls"]["Homepage"]
EXTRAS = re.search(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE).group(1).split(",")
LOCK = dict(line.split("==") for line in (ROOT / "requirements" / "lock.txt").read_text().split())
WANTED = [
    *PROJECT["dependencies"],
    *SETTINGS["dependency-groups"]["dev"],
    *(line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra] if not line.startswith("viewvote[")),
]


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("line", sorted(set(WANTED)))
def test_the_lock_has_an_admitted_release_of_everything_that_is_installed(line):
    wanted = requirements.Requirement(line)
    locked = {canonical(name): version for name, version in LOCK.items()}
    assert wanted.specifier.contains(locked[canonical(wanted.name)])


def test_the_citation_is_of_this_release_and_of_the_paper():
    citation = load("CITATION.cff")
    paper = citation["preferred-citation"]
    assert citation["version"] == viewvote.__version__
    assert citation["license"] == PROJECT["license"].partition(" AND ")[0]  # the code's, without models and fonts
    assert citation["repository-code"] == HOME
    assert paper["title"] in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    assert [author["family-names"] for author in paper["authors"]] == ["Farina", "Franchi", "Iacca", "Mancini", "Ricci"]


def test_hosted_ci_runs_ours_on_every_python_that_the_package_names():
    (job,) = load(".github/workflows/ci.yml")["jobs"].values()
    named = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert job["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


@pytest.mark.parametrize("name", ["bug", "feature", "question"])
def test_issue_forms_have_what_their_host_requires(name):
    form = load(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert all(field["attributes"]["label"] for field in fields)


def test_addresses_of_ours_are_below_the_home_page():
    for address in PROJECT["urls"].values():
        assert address.startswith(HOME)
    for link in load(".github/ISSUE_TEMPLATE/config.yml")["contact_links"]:
        assert link["url"].startswith(HOME)


def test_the_changelog_starts_with_this_release_and_its_date():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## (\S+) - (\d{4}-\d{2}-\d{2})$", text, flags=re.MULTILINE).groups()
    assert version == viewvote.__version__
    assert datetime.date.fromisoformat(date)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= kinds


def test_the_release_workflow_publishes_only_what_it_has_checked():
    jobs = load(".github/workflows/release.yml")["jobs"]
    commands = " ".join(step.get("run", "") for step in jobs["build"]["steps"])
    for check in ("diff --recursive", "twine check", 'viewvote" doctor'):
        assert check in commands
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_the_licence_is_an_expression_without_a_classifier():
    assert not [each for each in PROJECT["classifiers"] if each.startswith("License ::")]
    code, *others = PROJECT["license"].split(" AND ")
    assert (ROOT / "LICENSE").read_text().startswith(f"{code} License")
    assert others == ["Apache-2.0", "Bitstream-Vera", "LicenseRef-WordNet-3.0"]


def test_every_licence_of_what_ships_has_its_text():
    texts = {
        path.name: path.read_text(encoding="utf-8") for name in PROJECT["license-files"] for path in ROOT.glob(name)
    }
    assert "Bitstream, Inc." in texts["DejaVuSans-license.txt"]
    assert "Apache License" in texts["DroidSansFallback-license.txt"]
    models = texts["licences.md"]
    assert "Copyright (c) 2021 OpenAI" in models
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in models
    for card in ROOT.glob("models/*/model-card.md"):  # a source of a model whose terms nobody has looked up
        stated = re.findall(
            r"^\|[^|]+\|[^|]+\| ([^|]+) \|$", card.read_text(encoding="utf-8").split("licences\n")[1], re.MULTILINE
        )
        known = ("MIT", "Apache-2.0", "WordNet licence", "research terms", "licence", "---")
        assert [each for each in stated if not each.startswith(known)] == []
