"""`viewvote export`, wired into an app of its own."""

from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

from tests.encoders.export.tiny_export import TinyEncoder  # noqa: E402
from viewvote.cli import export  # noqa: E402
from viewvote.encoders import SCHEMES, load_encoder  # noqa: E402
from viewvote.registry import Entry  # noqa: E402

app = typer.Typer()
app.command(help=export.HELP)(export.export)


@pytest.fixture(autouse=True)
def _tiny_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source").mkdir()
    monkeypatch.setitem(SCHEMES._entries, "tiny", Entry("", "a tiny torch model"))
    monkeypatch.setitem(SCHEMES._objects, "tiny", lambda rest, options: TinyEncoder(tmp_path / "source"))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for i in range(6):
        small = np.random.default_rng(i).integers(0, 256, (5, 6, 3), dtype=np.uint8)
        Image.fromarray(small).resize((60, 50)).save(folder / f"{i}.png")
    (folder / "broken.jpg").write_bytes(b"no image")
    return folder


def test_int8_export_prints_files_agreement_and_how_to_use_it(tmp_path: Path, photos: Path) -> None:
    out = tmp_path / "pack"
    result = CliRunner().invoke(app, ["tiny:x", "--out", str(out), "--int8", "--images", str(photos)])
    assert result.exit_code == 0, result.output
    for piece in ("vision.int8.onnx", "fp32: cosine 1.0000", "int8: cosine 0.9", f"--model onnx:{out}", "12 views"):
        assert piece in result.output
    assert load_encoder(f"onnx:{out}").dim == 16


def test_without_images_the_shipped_examples_serve_and_quiet_prints_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["tiny:x", "--out", str(tmp_path / "pack"), "--quiet"])
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "pack" / "viewvote.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["toy"], 1, "toy cannot be exported"),
        (["tiny:x", "--images", "no/such/folder"], 2, "no such file or folder"),
    ],
)
def test_mistakes_are_told_in_words(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "pack")])
    assert result.exit_code == code
    assert message in result.output
    assert not (tmp_path / "pack").exists()
