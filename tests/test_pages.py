"""Every block of the site's pages runs as it is written, in a folder with photographs, shards, runs and data sets.

What a checkout does not have has a stand-in (`tests.page_stand_ins`), and `SUBSTITUTES` says what is written otherwise.
`pip` and `make` run too, on what is here: pip finds the wheel of the checkout, make takes this environment for its own;
lines of `ray` were run before, with ports of their own (`tests.page_cluster`). What `NEEDS` more than is installed is
not run, and the test of the page then ends as skipped. README and start are run by `tests.test_readme`, python by
`tests.test_python_page`, serve by `tests.server.test_process`, extend by `tests.test_extend`.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from tests import page_cluster
from tests import page_stand_ins as stand_ins
from tests.conftest import link_tower
from tests.packaging.test_distributions import build
from tests.test_extend import BLOCK, answers, run
from viewvote.cli.commands import app

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"start.md", "guides/python.md", "guides/serve.md"}
ROOMS = ("", "guides", "reference", "results")
DOCS = ROOT / "docs"
PAGES = sorted(
    page for room in ROOMS for page in (DOCS / room).glob("*.md") if page.relative_to(DOCS).as_posix() not in ELSEWHERE
)
SUBSTITUTES = {
    r"\{(0*)0\.\.\d+\}": r"{\g<1>0..\g<1>1}",  # two shards
    r"(/mnt|~)/data": "data",  # the folder of data sets
    r"\bconcurrency=8": "concurrency=1",  # each loads the model
    r"open_clip:ViT-(B-16|L-14)/openai": "open_clip:local-dir:clip",
    r"pocket-torch (--teacher clip-b16) --limit 6": r"open_clip:local-dir:clip \1 --limit 1 --views 8",  # a minute less
    r"reproduce nds": "reproduce nds --dataset photos --limit 1 --views 8",  # four labels
    r"--limit 200\b": "--limit 2",  # another run than the one before it
    r"--dataset imagenet\S*": r"\g<0> --limit 1 --views 8",  # fewer images and views, where no later --limit says more
    r"\bFILE\b": "photo.jpg",
    r"MINUTES=\d+": "MINUTES=0.02",  # a target takes one input
}
RAY, TORCH = r"--engine ray|^import ray", r"open_clip:|pocket-torch|--text-head"
NEEDS = {RAY: ("ray", "pyarrow", "s3fs", "moto", "flask"), TORCH: ("torch", "open_clip", "transformers")}
"""What is run only where these are."""
SECONDS = 900
"""For one block: Ray and torch take ten on an idle machine."""


@pytest.fixture(scope="module")
def cluster(surroundings):
    """The environment that leads to a Ray of this machine and a store; both end with the module."""
    with page_cluster.at_hand(surroundings / "page", VIEWVOTE_DATA=str(surroundings / "data" / "data")) as env:
        yield env


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """A folder with a page's surroundings, beside which what only some pages need is made once."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "page").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIEWVOTE_CACHE", str(tmp_path_factory.getbasetemp() / "viewvote-cache"))
        stand_ins.put_photographs(folder / "page")
    return folder


def provided(text, folder, surroundings):
    """Puts beside a page what only some need, made once; returns the environment that leads to it."""
    env = {"VIEWVOTE_DATA": "data", "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for place, put, needed in (
        ("data", lambda at: stand_ins.put_data(at / "data"), r"--root|--dataset imagenet|imagenet-a"),
        ("many", stand_ins.put_many_runs, r"calibrate-stop"),
        ("models", lambda at: stand_ins.put_models(at, surroundings / "page" / "photos"), r"open_clip:"),
    ):
        if re.search(needed, text) and not (place == "models" and lacking("open_clip:")):
            if not (surroundings / place).exists():
                (surroundings / place).mkdir()
                put(surroundings / place)
            for one in (surroundings / place).iterdir():
                (folder / one.name).symlink_to(one)
    return env


def filled(text, folder):
    """The block with our runs in the place of the reader's, and what stands for the rest."""
    found = sorted(path.parent for path in (folder / "runs").glob("photos-pocket-*/spec.toml"))
    zero = [path for path in found if "-zero-" in path.name]
    many = sorted((folder / "many").glob("*"))
    for pattern, substitute in SUBSTITUTES.items():
        text = re.sub(pattern, substitute, text)
    text = re.sub(r"calibrate-stop RUN\.\.\.", f"calibrate-stop {' '.join(map(str, many))}", text)
    text = re.sub(r"\bRUN RUN\b", f"{zero[0]} {found[0]}", text)
    text = re.sub(r"\bRUN\.\.\.", " ".join(map(str, zero)), text)
    return re.sub(r"\bRUN\b", str(zero[0]), text)


def commands(text):
    """The command lines of a block of bash, without comments; lines that end in a backslash go on."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def lacking(text):
    """What is not on this machine of what a command, a block or a page needs."""
    needed = [name for pattern, names in NEEDS.items() if re.search(pattern, text, flags=re.M) for name in names]
    tower = ["the image tower of `viewvote models get clip-b16`"] if "clip-b16" in text and not link_tower() else []
    return [name for name in needed if find_spec(name) is None] + tower


def check_options(words):
    """The command's own parser takes the line; nothing is run."""
    if words[0] == "viewvote":
        command, rest = get_command(app), words[1:]
        while rest and rest[0] in getattr(command, "commands", ()):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context("viewvote", rest)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The checkout's wheel."""
    pytest.importorskip("pip")
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "wheel")
    return next(out.glob("*.whl"))


def pip_installs(words, wheel):
    """Pip takes the wheel for the package, which has the extras; nothing is installed."""
    assert words[:2] == ["pip", "install"]
    wanted = [re.sub(r"^viewvote(?=\[|$)", str(wheel), word) for word in words[2:]]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", "--ignore-installed"]
    done = subprocess.run([*command, "--quiet", "--report=-", *wanted], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["install"]
    assert found["metadata"]["name"] == "viewvote"
    missing = {*found.get("requested_extras", [])} - {*found["metadata"]["provides_extra"]}
    assert not missing, f"the wheel does not provide the extra {missing}"


def makes(words, folder):
    """Make does what is written, in a copy of what it needs; this environment is its own, and up to date."""
    tree = folder / "checkout"
    if not tree.exists():
        shutil.copytree(ROOT / "fuzz", tree / "fuzz")  # it writes there
        for name in ("Makefile", "pyproject.toml", "requirements", "src", "models", "examples", "benchmarks"):
            (tree / name).symlink_to(ROOT / name)
    stamps = [word for stamp in ("core", "all", "docs") for word in ("-o", f"{sys.prefix}/{stamp}.stamp")]
    command = ["make", f"VENV={sys.prefix}", *stamps, *words[1:]]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def served(words, folder, env):
    """The service starts on any port, answers about a photograph, and ends when it is told to."""
    pytest.importorskip("fastapi")
    from tests.server.test_process import serving

    with serving(*words[2:], "--port", "0", env=env, cwd=folder) as (process, client):
        answer = client.post_image("/v1/classify", (folder / "photo.jpg").read_bytes(), {"Content-Type": "image/jpeg"})
        assert answer.status == 200, answer.body
        assert answer.json["predictions"][0]["label"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def check(language, text, folder, env, request):
    """Runs a block, or checks what can be checked of it; returns what it printed."""
    printed = ""
    if language == "json":
        json.loads(text)
    elif language == "toml":
        (folder / "run.toml").write_text(text, encoding="utf-8")
        run("bash", "viewvote eval --spec run.toml --dataset photos --model toy --limit 2", folder, **env)
    elif language == "python":
        compile(text, "a block", "exec")
        if not lacking(text):
            run("python", text, folder, seconds=SECONDS, **env)
    elif language == "bash":
        for words in commands(text):
            check_options(words)
            if words[0] == "pip":
                pip_installs(words, request.getfixturevalue("wheel"))
            elif words[0] == "make":
                makes(words, folder)
            elif words[0] in ("ray", "export"):
                assert tuple(words) in page_cluster.STARTED, f"{words} is not what the cluster was started with"
            elif words[:2] == ["viewvote", "serve"]:
                served(words, folder, env)
            elif not lacking(shlex.join(words)):
                printed += run("bash", shlex.join(words), folder, seconds=SECONDS, **env)
    else:
        assert language in ("text", "ini"), f"nothing checks a block of {language}"
    return printed


@pytest.mark.timeout(4 * SECONDS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_blocks_of_a_page_run(page, surroundings, tmp_path, request):
    folder = tmp_path / "page"
    shutil.copytree(surroundings / "page", folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    text = page.read_text(encoding="utf-8")
    assert "\n\n    " not in re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), "code without a language is not run"
    blocks = BLOCK.findall(text)
    whole = "".join(block for _, block in blocks)
    env = provided(whole, folder, surroundings)
    if re.search(RAY, whole, flags=re.M) and not lacking("--engine ray"):
        env |= request.getfixturevalue("cluster")
    printed = ""
    for language, block in blocks:
        if language == "text" and block.startswith("image ") and "\nexamples/" in block:
            tables = [f"image {table}" for table in f"\n{printed}".split("\nimage ")[1:]]
            assert any(answers(block) <= answers(table) for table in tables), f"{block}is not among\n{printed}"
        printed += check(language, filled(block, folder), folder, env, request)
    if lacking(whole):
        pytest.skip(f"all of it runs but what needs {', '.join(lacking(whole))}")


@pytest.mark.parametrize("page", sorted(ELSEWHERE))
def test_json_of_the_other_pages_is_json(page):
    for block in re.findall(r"^```json\n(.*?)^```$", (DOCS / page).read_text("utf-8"), flags=re.M | re.S):
        json.loads(block)


def test_every_substitute_is_for_something_on_a_page():
    text = re.sub(r"\\\n\s*", " ", "".join(page.read_text(encoding="utf-8") for page in PAGES))
    assert [pattern for pattern in SUBSTITUTES if not re.search(pattern, text)] == []


INSTALLS = {
    line.partition("`")[0]
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
    for line in re.findall(r"(?:^|`)(pip install [^`\n]+)", page.read_text(encoding="utf-8"), flags=re.M)
}


@pytest.mark.parametrize("line", sorted(INSTALLS))
def test_pip_finds_what_a_page_installs_in_the_wheel(line, wheel):
    pip_installs(shlex.split(line, comments=True), wheel)


def test_an_extra_that_is_not_there_is_found(wheel):
    with pytest.raises(AssertionError, match="does not provide the extra"):
        pip_installs(["pip", "install", "viewvote[no-such-extra]"], wheel)


def test_a_target_that_is_not_there_is_found(tmp_path):
    with pytest.raises(AssertionError, match="No rule to make target"):
        makes(["make", "no-such-target"], tmp_path)


def test_an_option_that_is_not_there_is_found():
    with pytest.raises(Exception, match="no-such-option"):
        check_options(shlex.split("viewvote classify photos --no-such-option"))
