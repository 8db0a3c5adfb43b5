"""In a fresh home every command leaves nothing but our own cache, and sends nothing."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from PIL import Image

from tests.sealed import run_sealed
from viewvote.cli.commands import app
from viewvote.files import example_photos

CAT = str(next(path for path in example_photos() if path.stem == "cat"))
ASK = ["--labels", "cat,dog", "--views", "4"]
TOY = ["--model", "toy", "--views", "4"]
COMMANDS = {
    "calibrate": ["RUN", "--output", "calibration.json"],
    "calibrate-stop": ["RUN", "--disagreement", "0.2", "--output", "stop.json"],
    "classify": [CAT, *ASK, "--explain", "pictures"],
    "context": ["PHOTOS", "--labels", "red,green,blue", "--model", "toy", "--out", "context.json"],
    "datasets": [],
    "doctor": [],
    "examples": [],
    "encode": ["PHOTOS", "--out", "features", *TOY],
    "eval": ["--dataset", "PHOTOS", *TOY],
    "methods": [],
    "metrics": ["RUN", "--plot", "plot.png"],
    "models": [],
    "report": ["RUN", "--format", "html", "--output", "report.html"],
    "reproduce": [],
    "rescore": ["RUN", "--keep", "0.5"],
    "sort": ["PHOTOS", "sorted", "--labels", "red,green,blue", *TOY],
    "study": ["overconfidence", "RUN", "--plot", "plot.png"],
    "templates": [],
    "text-head": ["export", "toy", "--labels-file", "LABELS", "--out", "head.npy"],
}
BELOW = ("export", "serve", "statistics")
"""Commands with tests of their own: two need torch, one has to be asked something."""
SERVE = """
import subprocess, sys, time, urllib.request
command = [sys.executable, "-m", "viewvote", "serve", "--model", "toy", "--labels", "red,blue", "--port", "8765"]
server = subprocess.Popen(command)
body = b"--x\\r\\nContent-Disposition: form-data; name=image; filename=cat.jpg\\r\\n\\r\\n" + open({cat!r}, "rb").read()
request = urllib.request.Request("http://127.0.0.1:8765/v1/classify", data=body + b"\\r\\n--x--\\r\\n")
request.add_header("Content-Type", "multipart/form-data; boundary=x")
for _ in range(200):
    try:
        print(urllib.request.urlopen(request, timeout=30).read().decode())
        break
    except OSError:  # not listening yet
        time.sleep(0.1)
server.terminate()
sys.exit(server.wait() not in (0, 143, -15))
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A folder of class folders, a finished run over it, and a file of labels."""
    folder = tmp_path_factory.mktemp("places")
    for i, name in enumerate(["red", "green", "blue"]):
        for n in range(20):
            (folder / "photos" / name).mkdir(parents=True, exist_ok=True)
            colour = tuple(250 - 5 * n if place == i else 60 * (n % 2) for place in range(3))
            Image.new("RGB", (24, 24), colour).save(folder / "photos" / name / f"{n}.png")
    (folder / "labels.txt").write_text("red\ngreen\nblue\n")
    words = ["-m", "viewvote", "eval", "--dataset", str(folder / "photos"), *TOY, "--out", str(folder / "runs")]
    done = run_sealed(*words, folder=folder / "sealed")
    assert done.code == 0, done.output
    (run,) = (folder / "runs").iterdir()
    return {"PHOTOS": str(folder / "photos"), "RUN": str(run), "LABELS": str(folder / "labels.txt")}


def test_every_command_is_tried() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert sorted(commands) == sorted([*COMMANDS, *BELOW])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_into_our_cache_alone_and_sends_nothing(
    command: str, places: dict[str, str], tmp_path: Path
) -> None:
    if command in ("metrics", "study"):
        pytest.importorskip("matplotlib")
    words = [command, *(places.get(word, word) for word in COMMANDS[command])]
    left = run_sealed("-m", "viewvote", *words, folder=tmp_path)
    assert left.code == 0, left.output
    check(left)


def check(left) -> None:
    assert [file for file in left.files if not file.startswith(".cache/viewvote/")] == []
    assert left.sent == ()


def test_the_service_answers_and_sends_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    left = run_sealed("-c", SERVE.format(cat=CAT), folder=tmp_path)
    assert left.code == 0, left.output
    assert '"predictions"' in left.output
    check(left)


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        ("openvino", ["classify", CAT, *ASK, "--runtime", "openvino"]),
        ("torch", ["classify", CAT, *ASK, "--model", "pocket-torch", "--method", "tpt"]),
        ("open_clip", ["classify", CAT, *ASK, "--model", "open_clip:local-dir:TINY"]),
    ],
)
def test_the_libraries_of_extras_are_as_discreet(needs: str, words: list[str], tmp_path: Path) -> None:
    if not find_spec(needs):
        pytest.skip(f"needs {needs}")
    if needs == "open_clip":
        from tests.encoders.torch.naive_clip import save_tiny  # imports transformers

        words = [word.replace("TINY", str(save_tiny(tmp_path / "tiny"))) for word in words]
    left = run_sealed("-m", "viewvote", *words, folder=tmp_path)
    assert left.code == 0, left.output
    check(left)


def test_what_reads_a_checkpoint_is_as_discreet(places: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("open_clip", reason="needs open_clip_torch")
    from tests.encoders.checkpoints.dassl_files import maple_state, save_dassl
    from tests.encoders.torch.naive_clip import TEXT, VISION, save_tiny

    tiny = f"open_clip:local-dir:{save_tiny(tmp_path / 'tiny')}"
    export = ["export", tiny, "--out", "pack", "--int8"]
    state = maple_state(2, text_width=TEXT, vision_width=VISION)
    checkpoint = save_dassl(tmp_path / "model.pth.tar-2", state, epoch=2)
    maple = f"maple:{checkpoint}@{tiny}"
    statistics = ["statistics", places["PHOTOS"], "--model", maple, "--limit", "4", "--output", "means.safetensors"]
    for words, made in ((export, "pack/vision.int8.onnx"), (statistics, "means.safetensors")):
        left = run_sealed("-m", "viewvote", *words, folder=tmp_path)
        assert left.code == 0, left.output
        assert (tmp_path / "work" / made).is_file()
        check(left)


def test_the_guard_sees_what_is_sent_and_written(tmp_path: Path) -> None:
    code = "import socket, pathlib; pathlib.Path.home().joinpath('note').write_text('x')\n"
    code += "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))"
    left = run_sealed("-c", code, folder=tmp_path)
    assert left.files == {"note"}
    assert left.sent[0] == "socket.sendto 192.0.2.1"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_openvino_by_itself_would_report(tmp_path: Path) -> None:
    pytest.importorskip("openvino_telemetry")
    left = run_sealed("-c", "import openvino", folder=tmp_path)
    assert "intel/openvino_ga_cid" in left.files
