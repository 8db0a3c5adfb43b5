"""Where a file of a package is: pip's settings, pages of links, local folders."""

from pathlib import Path

import pytest

from viewvote.encoders import package_index
from viewvote.encoders.package_index import IndexSettings, default_index, find_file, pip_settings
from viewvote.errors import ModelNotFoundError


@pytest.fixture
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CERT", "PROXY"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")  # pip reads no file then


def index(folder: Path, package: str, *links: str) -> str:
    """A simple index of one package, as a folder."""
    (folder / package).mkdir(parents=True)
    page = "".join(f'<a href="{link}" data-requires-python="&lt;3.14">x</a>\n' for link in links)
    (folder / package / "index.html").write_text(f"<!DOCTYPE html><html><body>{page}</body></html>")
    return folder.as_uri()


@pytest.mark.usefixtures("_no_settings")
def test_without_any_settings_it_is_the_public_index() -> None:
    assert pip_settings() == IndexSettings(indexes=default_index())
    assert [one.startswith("https://") for one in default_index()] == [True]


@pytest.mark.usefixtures("_no_settings")
def test_variables_of_pip_win_over_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://files.example/simple\ncert = /a.pem\nfind-links =\n  /wheels\n  /more\n"
        "[download]\nproxy = http://proxy.example:8080\n[install]\nproxy = http://other.example\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    expected = IndexSettings(
        ("https://files.example/simple",), ("/wheels", "/more"), "/a.pem", "http://proxy.example:8080"
    )
    assert pip_settings() == expected
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple/")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://a.example/ https://b.example/")
    assert pip_settings().indexes == ("https://variable.example/simple/", "https://a.example/", "https://b.example/")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert pip_settings().indexes == ()


@pytest.mark.usefixtures("_no_settings")
def test_without_pip_the_variables_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_index, "find_spec", lambda name: None)
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple")
    assert pip_settings() == IndexSettings(indexes=("https://variable.example/simple",))


def test_a_link_is_found_by_the_name_of_its_file_and_made_absolute(tmp_path: Path) -> None:
    url = index(tmp_path / "simple", "thing", "thing-1.0.tar.gz", "../../files/thing%2D1.0-py3.whl#sha256=ab")
    address, _ = find_file("thing", "thing-1.0-py3.whl", IndexSettings(indexes=(url,)))
    assert address == (tmp_path / "files" / "thing%2D1.0-py3.whl").as_uri().replace("%252D", "%2D")


def test_folders_of_wheels_come_first(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "thing-1.0.whl").write_text("x")
    url = index(tmp_path / "simple", "thing", "https://example.org/thing-1.0.whl")
    settings = IndexSettings(indexes=(url,), links=(str(tmp_path / "wheels"),))
    assert find_file("thing", "thing-1.0.whl", settings)[0] == (tmp_path / "wheels" / "thing-1.0.whl").as_uri()


def test_every_place_that_does_not_have_it_is_named(tmp_path: Path) -> None:
    url = index(tmp_path / "simple", "thing", "thing-0.9.whl")
    settings = IndexSettings(indexes=(url, "http://ann:secret@127.0.0.1:9/simple"), links=(str(tmp_path / "none"),))
    with pytest.raises(ModelNotFoundError) as caught:
        find_file("thing", "thing-1.0.whl", settings)
    message = str(caught.value)
    assert f"{url}/thing/ does not list it" in message
    assert "http://127.0.0.1:9/simple/thing/: " in message
    assert "none: " in message
    assert "secret" not in message
    with pytest.raises(ModelNotFoundError, match="no index"):
        find_file("thing", "thing-1.0.whl", IndexSettings(indexes=()))
