"""Revisions of the shipped models."""

import shutil
from hashlib import sha256

import pytest

from viewvote.encoders import revisions
from viewvote.files import shipped


def test_the_revision_is_a_hash_of_all_files_but_the_card(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = revisions.shipped_revisions()
    assert list(real) == ["pocket", "clip-b16"]
    for model in real:
        shutil.copytree(shipped(f"models/{model}"), tmp_path / "models" / model)
    monkeypatch.setattr(revisions, "shipped", lambda folder: tmp_path / folder)
    (tmp_path / "models" / "pocket" / "model-card.md").write_text("another card")
    assert revisions.shipped_revisions() == real
    (tmp_path / "models" / "pocket" / "viewvote.json").write_text("{}")
    changed = revisions.shipped_revisions()
    assert changed["pocket"] != real["pocket"]
    assert changed["clip-b16"] == real["clip-b16"]


def test_the_hash_is_of_names_lengths_and_contents(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in revisions.SHIPPED:
        (tmp_path / "models" / model).mkdir(parents=True)
        (tmp_path / "models" / model / "b").write_bytes(b"two")
        (tmp_path / "models" / model / "a").write_bytes(b"1")
    monkeypatch.setattr(revisions, "shipped", lambda folder: tmp_path / folder)
    assert revisions.shipped_revisions()["pocket"] == sha256(b"a 1\n1b 3\ntwo").hexdigest()[:12]
