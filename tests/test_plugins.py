"""Plugins: entry points of installed packages, and files that register what they bring."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from viewvote import Classifier, plugins
from viewvote.datasets import CATALOG, catalog, register_dataset, use_cards
from viewvote.datasets.cards import _use_plugins
from viewvote.encoders import SCHEMES, load_encoder, register_encoder, scheme_entry
from viewvote.errors import UnknownNameError, UsageError
from viewvote.methods import METHODS, method_entry, register_method
from viewvote.methods.baselines import ZeroShot
from viewvote.plugins import load_plugin, loaded_plugins
from viewvote.registry import Entry, Registry


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    """Nothing that a test registers or loads is there in the next."""
    monkeypatch.setattr(plugins, "_loaded", {})
    for registry in (SCHEMES, METHODS):
        for name in ("_entries", "_objects"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
        monkeypatch.setattr(registry, "_searched", False)
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    _use_plugins.cache_clear()
    cards = dict(catalog._cards)
    yield
    catalog._cards.clear()
    catalog._cards.update(cards)
    _use_plugins.cache_clear()


def install(site: Path, package: str, points: dict[str, dict[str, str]], *, summary: str = "", **modules: str) -> None:
    """A package as pip leaves it in a folder of sys.path."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    about = f"Summary: {summary}\n" if summary else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n{about}")
    groups = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in points.items()]
    (info / "entry_points.txt").write_text("\n".join(groups))
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source)


def things(**more):
    return Registry("thing", {"ordered": Entry("collections:OrderedDict", "keeps order")}, group="tests.things", **more)


def test_a_package_adds_names_without_being_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    install(
        tmp_path,
        "plug-one",
        {"tests.things": {"mine": "plug_one_module:Outer.inner"}},
        summary="Things of mine",
        plug_one_module="class Outer:\n    inner = 7\n",
    )
    registry = things()
    assert list(registry) == ["mine", "ordered"]
    assert registry.entry("mine").summary == "Things of mine (package plug-one)"
    assert "plug_one_module" not in sys.modules
    assert registry.get("mine") == 7


def test_a_known_name_searches_nothing(monkeypatch):
    monkeypatch.setattr("viewvote.registry.advertised", lambda group: pytest.fail("searched"))
    registry = things()
    assert "ordered" in registry
    assert registry.get("ordered").__name__ == "OrderedDict"
    assert SCHEMES.get("toy")


def test_a_broken_package_is_named_and_hides_no_other(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    install(
        tmp_path,
        "plug-broken",
        {"tests.things": {"broken": "plug_broken:thing", "gone": "plug_nowhere:thing", "half": "plug_good:nothing"}},
        plug_broken="import no_such_library\n",
    )
    install(tmp_path, "plug-good", {"tests.things": {"good": "plug_good:thing"}}, plug_good="thing = 'fine'\n")
    registry = things()
    assert list(registry) == ["broken", "gone", "good", "half", "ordered"]
    assert registry.get("good") == "fine"
    for name, why in (("broken", "no_such_library"), ("gone", "plug_nowhere"), ("half", "AttributeError")):
        with pytest.raises(UsageError, match=rf"thing '{name}' of the package plug-broken cannot be imported .*{why}"):
            registry.get(name)


def test_a_package_cannot_take_a_name_that_exists(tmp_path, monkeypatch, caplog):
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "plug-thief", {"tests.things": {"ordered": "plug_thief:thing"}})
    registry = things()
    assert list(registry) == ["ordered"]
    assert registry.get("ordered").__name__ == "OrderedDict"
    assert caplog.messages == ["the package plug-thief brings a thing 'ordered', which exists already; it is left out"]


def test_what_is_not_of_the_kind_is_refused_however_it_comes(tmp_path, monkeypatch):
    def check(name, obj):
        if not callable(obj):
            raise UsageError(f"{name} cannot be called")

    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "plug-odd", {"tests.things": {"odd": "plug_odd:thing"}}, plug_odd="thing = 3\n")
    registry = things(check=check)
    with pytest.raises(UsageError, match="odd cannot be called"):
        registry.get("odd")
    with pytest.raises(UsageError, match="even cannot be called"):
        registry.register("even", 4)
    assert "even" not in registry


ENCODER = """
import viewvote

class Swapped(viewvote.ToyEncoder):
    model_id = "swapped"

def load(rest, options):
    "The toy with another size."
    return Swapped(size=int(rest or 16))
"""


def test_an_installed_encoder_is_loaded_by_its_scheme(tmp_path):
    install(tmp_path, "plug-encoder", {"viewvote.encoders": {"swapped": "plug_encoder:load"}}, plug_encoder=ENCODER)
    code = """
import viewvote
from viewvote.encoders import catalog
print(viewvote.load_encoder("swapped:24").image_spec.size, viewvote.load_encoder("swapped").image_spec.size)
print([row.summary for row in catalog.families() if row.model == "swapped"])
"""
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["24 16", "['(package plug-encoder)']"]


def test_a_file_registers_what_it_brings_and_its_objects_can_be_pickled(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(ENCODER + "viewvote.register_encoder('swapped', load)\n")
    load_plugin(file)
    assert loaded_plugins() == (str(file.resolve()),)
    encoder = load_encoder("swapped:8")
    assert encoder.image_spec.size == 8
    assert scheme_entry("swapped").summary == "The toy with another size."
    assert type(pickle.loads(pickle.dumps(encoder))) is type(encoder)


def test_a_file_runs_again_only_where_it_has_changed(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(ENCODER + "viewvote.register_encoder('swapped', load)\n")
    load_plugin(file)
    first = SCHEMES.get("swapped")
    load_plugin(str(file))
    assert SCHEMES.get("swapped") is first
    file.write_text(file.read_text().replace("or 16", "or 12"))
    load_plugin(file)
    assert load_encoder("swapped").image_spec.size == 12


def test_files_in_the_environment_are_loaded_when_a_name_is_unknown(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(ENCODER + f"viewvote.register_encoder('{name}', load)\n")
    monkeypatch.setenv(plugins.VARIABLE, os.pathsep.join([str(tmp_path / "one.py"), "", str(tmp_path / "two.py")]))
    assert load_encoder("toy").model_id == "toy"
    assert loaded_plugins() == ()
    assert load_encoder("two").model_id == "swapped"
    assert [Path(path).name for path in loaded_plugins()] == ["one.py", "two.py"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import viewvote\n\nimport no_such_library\n", r"mine\.py fails in line 3: ModuleNotFoundError: .*no_such"),
        ("x = (\n", r"mine\.py fails in line 1: SyntaxError"),
        ("def f():\n    1 / 0\nf()\n", r"mine\.py fails in line 2: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", r"mine\.py fails in line 2: SystemExit: 3"),
        (
            "import viewvote\nviewvote.register_encoder('toy', len)\n",
            r"mine\.py fails in line 2: model scheme 'toy' exists already; choose another name\.$",
        ),
        (
            "import viewvote\nviewvote.register_encoder('odd', 3)\n",
            r"fails in line 2: .*'odd' is a int; expected",
        ),
    ],
)
def test_a_file_that_fails_is_named_with_the_line(tmp_path, source, message):
    file = tmp_path / "mine.py"
    file.write_text(source)
    modules = set(sys.modules)
    with pytest.raises(UsageError, match=message):
        load_plugin(file)
    assert loaded_plugins() == ()
    assert not [name for name in set(sys.modules) - modules if "viewvote_plugin" in name]


@pytest.mark.parametrize("name", ["none.py", "", "folder.py"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(UsageError, match=f"cannot read the plugin {tmp_path / name}: "):
        load_plugin(tmp_path / name)


def test_a_file_that_is_no_python_is_refused(tmp_path):
    (tmp_path / "plugin.txt").write_text("import viewvote")
    with pytest.raises(UsageError, match=r"plugin\.txt is no file of Python; expected a name that ends in \.py"):
        load_plugin(tmp_path / "plugin.txt")


def test_the_same_function_may_be_registered_again_but_no_other():
    def load(rest, options):
        return load_encoder("toy")

    register_encoder("again", load)
    register_encoder("again", load, summary="twice")
    assert SCHEMES.entry("again").summary == "twice"
    with pytest.raises(UsageError, match="'again' exists already"):
        register_encoder("again", lambda rest, options: load_encoder("toy"))


@pytest.mark.parametrize("name", ["", " a", "a:b", 3])
def test_a_name_that_cannot_be_asked_for_is_refused(name):
    with pytest.raises(UsageError, match="expected a word without a colon"):
        register_encoder(name, lambda rest, options: load_encoder("toy"))


METHOD = """
from dataclasses import dataclass
import viewvote
from viewvote.methods.baselines import ZeroShot

@dataclass(frozen=True)
class Mine(ZeroShot):
    "Zero-shot under a name of mine."
    name = "mine"
    keep: float = 0.25

viewvote.register_method("mine", Mine)
"""


def test_a_method_of_a_file_is_used_by_name_and_reports_find_its_data(tmp_path):
    (tmp_path / "mine.py").write_text(METHOD)
    load_plugin(tmp_path / "mine.py")
    assert METHODS.entry("mine").summary == "Zero-shot under a name of mine."
    assert (method_entry("mine").keep, method_entry("mine").streams) == (0.25, False)
    clf = Classifier("toy", labels=["red", "green"], method="mine")
    assert clf(np.full((9, 9, 3), (250, 0, 0), dtype=np.uint8)).label == "red"


@dataclass(frozen=True)
class Other(ZeroShot):
    name = "other"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Other(), "expected a frozen dataclass of hyper-parameters"),
        (int, "expected a frozen dataclass of hyper-parameters"),
        (Other, "has the name 'other'; expected `name = 'mine'`"),
    ],
)
def test_what_is_no_method_is_not_registered(cls, message):
    with pytest.raises(UsageError, match=message):
        register_method("mine", cls)
    assert "mine" not in METHODS


CARD = """
[cards.{name}]
reader = "folders"
folders = ["{name}"]
classes = ["cat", "dog"]
images = 2
"""


def test_datasets_of_packages_and_files_come_into_the_catalog_and_a_broken_one_is_reported(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("far", "near"):
        (tmp_path / f"{name}.toml").write_text(CARD.format(name=name))
    points = {"far": "plug_data:cards", "missing": "plug_data:nothing"}
    source = f"from pathlib import Path\ndef cards(): return Path({str(tmp_path / 'far.toml')!r})\n"
    install(tmp_path, "plug-data", {"viewvote.datasets": points}, plug_data=source)
    (tmp_path / "mine.py").write_text(
        "import viewvote\nfrom pathlib import Path\nviewvote.register_dataset(Path(__file__).with_name('near.toml'))\n"
    )
    monkeypatch.setenv(plugins.VARIABLE, str(tmp_path / "mine.py"))
    use_cards()
    assert (CATALOG["far"].class_list.names, CATALOG["near"].images) == (("cat", "dog"), 2)
    assert len(caplog.messages) == 1
    assert "datasets of the package plug-data are left out: " in caplog.messages[0]
    assert "nothing" in caplog.messages[0]


def test_a_card_may_be_registered_again_as_it_is_but_not_changed():
    card = replace(CATALOG["dtd"], name="my-dtd")
    register_dataset(card)
    register_dataset(card)
    assert CATALOG["my-dtd"] is card
    with pytest.raises(UsageError, match="'my-dtd' exists already"):
        register_dataset(replace(card, images=3))


def test_an_unknown_name_still_suggests_after_the_search():
    with pytest.raises(UnknownNameError, match=r"no model 'tooy'\. Did you mean 'toy'\?"):
        load_encoder("tooy")
