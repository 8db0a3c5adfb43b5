"""PromptAlign's source statistics: against plain means, from files, by the command, and as part of a run's identity."""

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch
import typer
from PIL import Image
from typer.testing import CliRunner

from tests.encoders.torch.naive_clip import BLOCKS, random_views
from tests.methods.tuning.tuning_cases import NAMES, Zoo, random_statistics
from viewvote.classify.classifier import Classifier
from viewvote.cli.statistics import statistics as statistics_command
from viewvote.errors import CheckpointError, ModelNotFoundError, RunError, UsageError
from viewvote.methods.tuning.promptalign import PromptAlign
from viewvote.methods.tuning.token_statistics import (
    THEIR_FILES,
    TokenStatistics,
    gather_statistics,
    load_statistics,
    save_statistics,
)
from viewvote.runs.environment import differences, environment_of

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_authors_two_files_are_read_from_their_folder(tmp_path, dtype):
    rng = torch.Generator().manual_seed(0)
    means, variances = torch.randn(12, 199, 768, generator=rng).to(dtype), torch.rand(12, 199, 768, generator=rng)
    torch.save(means, tmp_path / THEIR_FILES[0])
    torch.save(variances, tmp_path / THEIR_FILES[1])
    loaded = load_statistics(tmp_path)
    np.testing.assert_array_equal(loaded.means, means.float().numpy())
    np.testing.assert_array_equal(loaded.variances, variances.numpy())


def test_files_that_are_no_statistics_are_refused(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"no ImgNetpre_vis_means\.pt in"):
        load_statistics(tmp_path)
    torch.save({"means": torch.zeros(2, 3, 4)}, tmp_path / THEIR_FILES[0])
    with pytest.raises(CheckpointError, match="does not hold one tensor"):
        load_statistics(tmp_path)
    (tmp_path / THEIR_FILES[0]).write_bytes(b"<html>too many downloads</html>")
    with pytest.raises(CheckpointError, match="is not a readable torch file"):
        load_statistics(tmp_path)
    torch.save(torch.zeros(2, 3, 4), tmp_path / THEIR_FILES[0])
    torch.save(torch.zeros(2, 3, 5), tmp_path / THEIR_FILES[1])
    with pytest.raises(CheckpointError, match=r"got means \(2, 3, 4\) and variances \(2, 3, 5\)"):
        load_statistics(tmp_path)
    torch.save({"weights": torch.zeros(3)}, tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match=r"holds \['weights'\]; expected means and variances"):
        load_statistics(tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="negative variance"):
        TokenStatistics(np.zeros((1, 2, 3), np.float32), np.full((1, 2, 3), -1, np.float32))


def test_gathered_statistics_are_the_plain_mean_and_variance(zoo, tmp_path):
    pixels = random_views(11, 7)  # more than one batch; arrays of the model's size are their own source views
    gathered = gather_statistics(zoo.maple, list(pixels))
    with torch.no_grad():
        _, taps = zoo.maple.view_features(pixels, taps=BLOCKS)
    inputs = np.stack([tap.double().numpy() for tap in taps])  # (blocks, images, tokens, width)
    np.testing.assert_allclose(gathered.means, inputs.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(gathered.variances, inputs.var(axis=1), atol=1e-5)
    path = tmp_path / "statistics.safetensors"
    save_statistics(gathered, path)
    again = load_statistics(path)
    np.testing.assert_array_equal(again.means, gathered.means)
    np.testing.assert_array_equal(again.variances, gathered.variances)
    with pytest.raises(UsageError, match="at least one image"):
        gather_statistics(zoo.maple, [])


def test_the_command_writes_what_the_method_reads(zoo, tmp_path):
    for i, pixels in enumerate(random_views(3)):
        folder = tmp_path / "images" / f"n{i}"
        folder.mkdir(parents=True)
        Image.fromarray(pixels).save(folder / "one.PNG")
    (tmp_path / "images" / "notes.txt").write_text("no image")
    (tmp_path / "images" / "n2").rename(tmp_path / "elsewhere")
    (tmp_path / "images" / "n2").symlink_to(tmp_path / "elsewhere")
    app = typer.Typer()
    app.command()(statistics_command)
    output = tmp_path / "out.safetensors"
    images = str(tmp_path / "images")
    result = CliRunner().invoke(app, [images, "--model", zoo.maple.model_id, "--output", str(output)])
    assert (result.exit_code, result.stderr) == (0, f"viewvote: statistics of 3 images written to {output}.\n")
    expected = gather_statistics(zoo.maple, list(random_views(3)))
    np.testing.assert_allclose(load_statistics(output).means, expected.means, atol=1e-6)
    classifier = Classifier(zoo.maple, labels=NAMES, method=PromptAlign(output), n_views=4)
    assert classifier(random_views(1)[0]).notes == ()
    for wrong, code, message in [
        ([images, "--model", zoo.plain.model_id, "--output", str(output), "--overwrite"], 1, "has no learned prompts"),
        ([images, "--model", "toy", "--output", "x.pt"], 2, "must end in .safetensors"),
        ([str(tmp_path / "none"), "--model", "toy", "--output", "x.safetensors"], 2, "no such file or folder"),
    ]:
        result = CliRunner().invoke(app, wrong)
        assert result.exit_code == code
        assert message in result.stderr


def test_a_limit_takes_evenly_spaced_images(zoo, tmp_path):
    for i, pixels in enumerate(random_views(4)):
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
    app = typer.Typer()
    app.command()(statistics_command)
    output = tmp_path / "out.safetensors"
    arguments = [str(tmp_path), "--model", zoo.maple.model_id, "--output", str(output), "--limit", "2", "-q"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    expected = gather_statistics(zoo.maple, list(random_views(4)[[0, 2]]))
    np.testing.assert_allclose(load_statistics(output).means, expected.means, atol=1e-6)


def test_a_run_is_not_continued_with_other_statistics(zoo, tmp_path):
    save_statistics(random_statistics(), tmp_path / "first.safetensors")

    def environment(statistics):
        method = PromptAlign(statistics)
        return environment_of(Classifier(zoo.maple, labels=NAMES, method=method, n_views=4))

    before = environment(tmp_path / "first.safetensors")
    assert differences(before, environment(random_statistics()), source="environment.json") == []
    with pytest.raises(RunError, match="began with another method fingerprint"):
        differences(before, environment(random_statistics(seed=1)), source="environment.json")
