"""Specs: a TOML file and back, errors that name what is wrong, a hash that says what a run is."""

import re
import tomllib
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewvote.errors import UnknownNameError, UsageError
from viewvote.runs import RunSpec

FULL = RunSpec(
    dataset='/data/a "quoted" name\nin two lines',
    classes="imagenet",
    root="C:\\data",
    model="open_clip:ViT-B-16/openai",
    method="tda",
    settings={"alpha": 1e-05, "shots": 3, "multi_view": True, "entropy_range": (0.2, 0.5)},
    views=8,
    stop="stop.json",
    disagreement=0.02,
    keep=1.0,
    templates=("a photo of a {}.", "{}, \x7f and ünïcode"),
    teacher="pocket",
    augment="augmix",
    seed=-3,
    order="shuffled",
    limit=100,
    device="cuda:1",
    dtype="fp16",
    runtime="openvino",
    precision="int8",
    fingerprint="ab" * 32,
    stop_fingerprint="ab" * 6,
    text_head="head.npy",
    text_head_fingerprint="ab" * 6,
    text_head_model="open_clip:ViT-B-16/openai",
    detail=True,
)


def test_a_full_spec_survives_the_file():
    assert RunSpec.from_toml(FULL.to_toml()) == FULL
    written = tomllib.loads(FULL.to_toml())
    assert set(written) == {field.name for field in fields(RunSpec)}
    assert written["settings"]["entropy_range"] == [0.2, 0.5]


def test_equal_specs_are_equal_files_whatever_version_wrote_them():
    spec = RunSpec(
        "a\tb", method="tda", settings={"pair": (0.2, [1]), "word": 'q"', "none": []}, keep=0.5, templates=("a, [", "b")
    )
    assert spec.to_toml() == (
        'dataset = "a\\tb"\nmodel = "pocket"\nmethod = "tda"\nviews = 64\nkeep = 0.5\ntemplates = ["a, [", "b"]\n'
        'augment = "crops"\nseed = 0\ndevice = "auto"\ndtype = "fp32"\nruntime = "auto"\nprecision = "auto"\n'
        '\n[settings]\n"pair" = [0.2, [1]]\n"word" = "q\\""\n"none" = []\n'
    )


def test_what_is_not_set_is_not_written():
    text = RunSpec("pets").to_toml()
    assert "keep" not in text
    assert "settings" not in text
    assert RunSpec.from_toml(text) == RunSpec("pets")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False))
def test_any_text_and_number_survive_the_file(text, number):
    spec = RunSpec(dataset=text, settings={"value": number, "word": text})
    assert RunSpec.from_toml(spec.to_toml()) == spec


def test_the_hash_depends_on_every_field_and_on_nothing_else():
    changed = {
        "dataset": "other", "classes": "pets", "root": "/r", "model": "toy", "method": "zero", "settings": {"alpha": 2},
        "views": 9, "stop": "other.json", "disagreement": 0.05, "keep": 0.5, "templates": "photo", "teacher": "toy",
        "augment": "crops", "seed": 1, "order": "dataset", "limit": 7,
        "device": "cpu", "dtype": "bf16", "runtime": "auto",
        "precision": "fp32", "fingerprint": "cd", "stop_fingerprint": "cd", "detail": False,
        "text_head": "other.npy", "text_head_fingerprint": "cd", "text_head_model": "toy",
    }  # fmt: skip
    assert set(changed) == {field.name for field in fields(RunSpec)}
    digests = {replace(FULL, **{name: value}).digest for name, value in changed.items()} | {FULL.digest}
    assert len(digests) == len(changed) + 1
    assert RunSpec.from_toml(FULL.to_toml()).digest == FULL.digest


def test_the_folder_name_is_safe_and_ends_in_the_hash():
    name = FULL.folder_name("my photos/été")
    assert re.fullmatch(r"my_photos_t-open_clip_ViT_B_16_openai-tda-[0-9a-f]{12}", name)
    assert name.endswith(FULL.digest[:12])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('dataset = "pets"\nmodle = "toy"', "a run spec has no key 'modle'. Did you mean 'model'?"),
        ('model = "toy"', "no dataset is named"),
        ('dataset = "pets"\nviews = "many"', "views must be a number, adaptive or auto; got 'many'"),
        ('dataset = "pets"\nviews = true', "views must be of type int | str; got True"),
        ('dataset = "pets"\ndisagreement = 0.1', "disagreement belongs to adaptive views"),
        ('dataset = "pets"\nviews = 0', "views must be a whole number of at least 1 and at most 4,096; got 0"),
        ('dataset = "pets"\nkeep = 1.5', "keep must be above 0 and at most 1"),
        ('dataset = "pets"\nprecision = "int4"', "no value for precision 'int4'. Did you mean 'int8'?"),
        ('dataset = "pets"\ntemplates = [1]', "templates must be strings"),
        ('dataset = "pets"\nsettings = 3', "settings must be of type dict; got 3"),
        (
            'dataset = "pets"\n[settings]\ntie = 1979-05-27',
            "setting 'tie' must be a number, a string or a list of them;",
        ),
        ('dataset = "pets"\n[settings]\nrange = [1, {a = 2}]', "setting 'range' must be a number, a string or a list"),
        ('dataset = "pets"\n[settings]\nweight = nan', "setting 'weight' must be a number, a string or a list"),
        ("dataset = ", "the spec is not TOML"),
    ],
)
def test_a_wrong_spec_is_told_what_is_wrong(text, told):
    with pytest.raises(UsageError, match=re.escape(told)):
        RunSpec.from_toml(text)


def test_a_whole_number_is_a_keep_too():
    assert RunSpec.from_values({"dataset": "pets", "keep": 1}).keep == 1.0


def test_unknown_keys_are_lookup_errors():
    with pytest.raises(UnknownNameError):
        RunSpec.from_values({"dataset": "pets", "sead": 1})


def test_a_setting_that_no_file_can_hold_is_refused():
    with pytest.raises(UsageError, match="setting 'alpha' must be a number, a string or a list of them; got None"):
        RunSpec("pets", settings={"alpha": None})


def test_a_folder_whose_name_no_file_can_hold_is_refused():
    with pytest.raises(
        UsageError, match=r"a spec is UTF-8 text and cannot hold the name '/data/caf\\udce9'.*rename it"
    ):
        RunSpec("/data/caf\udce9")
