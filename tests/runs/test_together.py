"""Several methods in one pass: the records of separate runs, from views drawn and encoded once."""

import pytest

from tests.runs.colour_runs import KilledError, colour_folder, lines_of, spoil
from viewvote.encoders import SCHEMES
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import UsageError
from viewvote.runs import RunSpec, plan_runs, run
from viewvote.runs.together import run_together, shared_passes

METHODS = ["zero", "zero-shot", "marginal", "ensemble", "mta"]


@pytest.fixture
def colours(tmp_path):
    return str(colour_folder(tmp_path / "colours", each=3))


@pytest.fixture
def counted(monkeypatch):
    """Counts the views that the toy model encodes."""
    seen = []
    encode = ToyEncoder.encode_images
    monkeypatch.setattr(
        ToyEncoder, "encode_images", lambda self, views: (seen.append(len(views)), encode(self, views))[1]
    )
    return seen


def planned(folder, **values):
    return plan_runs({"dataset": folder, "model": "toy", "views": 12, "method": METHODS, **values})


def test_records_are_those_of_separate_runs_and_views_are_encoded_once(tmp_path, colours, counted):
    spoil(tmp_path / "colours" / "red" / "0001.png")
    together = run_together(planned(colours), out=tmp_path / "together")
    assert sum(counted) == 8 * 12 + len(METHODS)  # one image is unreadable; one view per run is of environment.json
    apart = [run(spec, out=tmp_path / "apart") for spec in planned(colours)]
    assert [one.run for one in together] == [one.run for one in apart]
    for one, other in zip(together, apart, strict=True):
        assert lines_of(one) == lines_of(other)
        assert (one.top1, one.errors, one.n) == (other.top1, other.errors, 9)


def test_a_method_that_sees_part_of_a_block_is_the_same_too(tmp_path, colours, monkeypatch):
    encode = ToyEncoder.encode_images

    def in_blocks(self, views):  # the last bits depend on how many views a call has beyond whole blocks
        features = encode(self, views)
        features[len(views) // 8 * 8 :] *= 1 + 1e-3 * (len(views) % 8)
        return features

    monkeypatch.setattr(ToyEncoder, "encode_images", in_blocks)
    monkeypatch.setattr(ToyEncoder, "block_views", 8)
    together = run_together(planned(colours), out=tmp_path / "together")
    for one, spec in zip(together, planned(colours), strict=True):
        assert lines_of(one) == lines_of(run(spec, out=tmp_path / "apart"))


def test_killed_and_started_again_each_folder_has_every_record_once(tmp_path, colours, monkeypatch):
    specs = planned(colours)
    ahead = run(specs[2], out=tmp_path / "out")  # one of them was run alone before
    calls = []
    encode = ToyEncoder.encode_images

    def killed(self, views):
        calls.append(len(views))
        if len(calls) == 5:
            raise KilledError
        return encode(self, views)

    monkeypatch.setattr(ToyEncoder, "encode_images", killed)
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(KilledError):
        run_together(specs, out=tmp_path / "out", threads=1)
    found = run_together(specs, out=tmp_path / "out")
    assert found[2].run == ahead.run
    for one, spec in zip(found, specs, strict=True):
        assert lines_of(one) == lines_of(run(spec, out=tmp_path / "apart"))


def test_only_what_differs_in_the_decision_shares_a_pass():
    def grouped(*methods, **values):
        specs = plan_runs({"dataset": "pets", "method": list(methods), **values})
        return [[spec.method for spec in group] for group in shared_passes(specs)]

    assert grouped("zero", "zero-shot", "marginal") == [["zero", "zero-shot", "marginal"]]
    assert grouped("zero", "tda", "tpt", "marginal", "mta") == [["zero"], ["tda"], ["tpt"], ["marginal", "mta"]]
    assert grouped("zero", "mta", seeds=[0, 1]) == [["zero", "mta"], ["zero", "mta"]]
    assert grouped("zero", "mta", model=["pocket", "toy"]) == [["zero", "mta"], ["zero", "mta"]]
    assert grouped("zero", "marginal", teacher="toy") == [["zero"], ["marginal"]]


def test_each_method_takes_the_settings_it_knows():
    specs = plan_runs(
        {"dataset": "pets", "method": ["zero", "zero-shot", "marginal"], "keep": 0.2, "settings": {"tie": "random"}}
    )
    assert [(spec.keep, spec.settings) for spec in specs] == [(0.2, {"tie": "random"}), (None, {}), (0.2, {})]
    with pytest.raises(UsageError, match="none of the methods zero, mta has a setting 'lr'"):
        plan_runs({"dataset": "pets", "method": ["zero", "mta"], "settings": {"lr": 1}})
    with pytest.raises(UsageError, match="method must be a name"):
        plan_runs({"dataset": "pets", "method": ["zero", 3]})


def test_a_single_name_is_as_before():
    assert plan_runs({"dataset": "pets", "method": "marginal"}) == [RunSpec("pets", method="marginal")]
    assert "toy" in SCHEMES
