"""What the sdist and the wheel hold, and that the wheel alone classifies, away from the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[2]
PLACES = {"src/viewvote": "viewvote", "models": "viewvote/models", "examples": "viewvote/examples"}
DATA = {
    ".html",
    ".css",
    ".csv",
    ".js",
    ".jpg",
    ".json",
    ".md",
    ".mplstyle",
    ".onnx",
    ".svg",
    ".toml",
    ".ttf",
    ".txt",
    ".typed",
    ".woff2",
}
"""Endings, beside .py, of what belongs into a wheel: a file of another kind got there by mistake."""


class Distributions(NamedTuple):
    """An sdist and a wheel, and the names of what they hold."""

    sdist: Path
    wheel: Path

    def in_sdist(self):
        with tarfile.open(self.sdist) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}

    def in_wheel(self):
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())


def build(source, out, *targets):
    """Run the build backend itself: no environment is made, nothing is downloaded."""
    chosen = [word for target in targets for word in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out), *chosen]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "sdist", "wheel")
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distributions(sdist, wheel)


def files_of_the_checkout(*folders):
    """What git tracks there or would, were it added."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name for name in listed if (ROOT / name).exists()}


def test_the_wheel_is_the_package_its_models_and_its_photographs(built):
    expected = set()
    for source, place in PLACES.items():
        expected |= {place + name.removeprefix(source) for name in files_of_the_checkout(source)}
    assert {name for name in built.in_wheel() if ".dist-info/" not in name} == expected


def test_no_file_of_the_wheel_is_of_a_kind_that_does_not_belong(built):
    names = [Path(name) for name in built.in_wheel() if ".dist-info/" not in name]
    assert {name.suffix or name.name for name in names} - {".py"} <= DATA
    assert not [name for name in names if {"tests", "benchmarks", "training", "__pycache__"} & set(name.parts)]


def test_the_wheel_has_what_the_package_reads_at_run_time(built):
    data = {path.relative_to(ROOT / "src").as_posix() for kind in ("json", "toml") for path in data_files(kind)}
    models = {f"viewvote/models/pocket/{name}" for name in ("vision.int8.onnx", "text.onnx", "tokenizer.json")}
    assert data | models | {"viewvote/py.typed", "viewvote/examples/photos/cat.jpg"} <= built.in_wheel()
    assert len(data) >= 5


def data_files(kind):
    return (ROOT / "src" / "viewvote").rglob(f"*.{kind}")


def test_the_wheel_installs_the_command_and_names_its_licence_and_home(built):
    with zipfile.ZipFile(built.wheel) as archive:
        texts = {name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
        points = ConfigParser()
        points.read_string(archive.read(texts["entry_points.txt"]).decode())
        metadata = archive.read(texts["METADATA"]).decode().splitlines()
    assert dict(points["console_scripts"]) == {"viewvote": "viewvote.cli:main"}
    assert {name for name in texts if name.startswith("licenses/")} == {
        "licenses/LICENSE",
        "licenses/models/pocket/licences.md",
        "licenses/src/viewvote/pictures/fonts/DejaVuSans-license.txt",
        "licenses/src/viewvote/pictures/fonts/DroidSansFallback-license.txt",
    }
    assert "License-Expression: MIT AND Apache-2.0 AND Bitstream-Vera AND LicenseRef-WordNet-3.0" in metadata
    assert "Project-URL: Homepage, https://github.com/viewvote/viewvote" in metadata


def test_the_package_index_shows_a_readme_whose_links_lead_somewhere(built):
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        headers, _, readme = archive.read(name).decode().partition("\n\n")
    assert "Description-Content-Type: text/markdown" in headers
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(targets) > 10
    for target in targets:
        assert target.startswith("https://")
        home = re.match(
            r"https://(?:github\.com/viewvote/viewvote/blob|raw\.githubusercontent\.com/viewvote/viewvote)/main/",
            target,
        )
        assert home is None or (ROOT / target[home.end() :].partition("#")[0]).exists(), target
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    assert pictures
    assert all(picture.startswith("https://raw.githubusercontent.com/") for picture in pictures)


def test_the_sdist_is_what_the_wheel_is_made_of_and_what_explains_it(built):
    tracked = files_of_the_checkout("src", "models", "examples", "docs", "CHANGELOG.md", "CITATION.cff")
    assert built.in_sdist() == tracked | {"pyproject.toml", "README.md", "LICENSE", ".gitignore", "PKG-INFO"}


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    build(source, tmp_path / "out", "wheel")
    (again,) = (tmp_path / "out").iterdir()
    assert again.name == built.wheel.name
    assert again.read_bytes() == built.wheel.read_bytes()


def test_two_builds_have_the_same_bytes(built, tmp_path):
    build(ROOT, tmp_path, "sdist", "wheel")
    for first in (built.sdist, built.wheel):
        assert (tmp_path / first.name).read_bytes() == first.read_bytes(), first.name


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The folder of commands of a fresh environment that holds the wheel with the core's dependencies alone."""
    folder = tmp_path_factory.mktemp("fresh")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    probe = ["download", "--no-deps", "--no-cache-dir", "--retries", "0", "--timeout", "10", "--dest", str(folder)]
    if subprocess.run([*pip, *probe, "platformdirs"], capture_output=True, timeout=60).returncode:
        pytest.skip("the package registry cannot be reached")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=60)
    commands = environment / ("Scripts" if os.name == "nt" else "bin")
    lock = ["--constraint", str(ROOT / "requirements" / "lock.txt")]
    install = [*pip, "--python", str(commands / "python"), "install", "--no-compile", *lock, str(built.wheel)]
    done = subprocess.run(install, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return commands


def run(command, *, cwd):
    """The output of a command that sees neither this environment nor the checkout."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV", "VIRTUAL"))}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_classifies_its_photographs_in_a_fresh_environment(installed, tmp_path):
    where = [installed / "python", "-c", "import viewvote; print(viewvote.__path__[0])"]
    package = Path(run(where, cwd=tmp_path).strip())
    assert package.is_relative_to(installed.parent)
    chosen = [package / "examples" / "photos", "--labels", "astronaut,cat,coffee cup,rocket", "--views", "16"]
    lines = run([installed / "viewvote", "classify", *chosen, "--format", "jsonl"], cwd=tmp_path).splitlines()
    answers = {Path(answer["path"]).stem: answer["label"] for answer in map(json.loads, lines)}
    assert answers == {"astronaut": "astronaut", "cat": "cat", "coffee": "coffee cup", "rocket": "rocket"}


def test_the_core_brings_none_of_the_extras(installed, tmp_path):
    code = "import importlib.metadata as m; print(*sorted(d.name.lower() for d in m.distributions()))"
    found = run([installed / "python", "-c", code], cwd=tmp_path).split()
    assert "viewvote" in found
    assert not {"torch", "onnx", "ray", "fastapi", "matplotlib", "datasets", "transformers"} & set(found)
