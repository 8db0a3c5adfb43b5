"""Cards that users write: datasets with a name, checked counts and templates, without a line of code."""

import pickle

import pytest

from tests.datasets.miniature import put_images
from viewvote.datasets import CATALOG, SUITES, add_cards, catalog, load_cards, open_dataset, use_cards
from viewvote.datasets.check import survey
from viewvote.errors import DatasetNotFoundError, UnknownNameError, UsageError

BIRDS = """
[cards.my-birds]
reader = "folders"
folders = ["birds/test"]
classes = ["wren", "robin"]
images = 3
template = "a photo of a {}, a bird."

[suites]
mine = ["my-birds", "pets"]
"""


@pytest.fixture(autouse=True)
def _own_catalog(monkeypatch):
    """The catalog as it is shipped, whatever a test adds."""
    monkeypatch.delenv("VIEWVOTE_DATASETS", raising=False)
    monkeypatch.delenv("VIEWVOTE_DATA", raising=False)
    cards, suites = dict(catalog._cards), dict(catalog._suites)
    yield
    for added, shipped in ((catalog._cards, cards), (catalog._suites, suites)):
        added.clear()
        added.update(shipped)


@pytest.fixture
def birds(tmp_path):
    """The card's file beside the data."""
    put_images(tmp_path, ["birds/test/wren/a.jpg", "birds/test/wren/b.jpg", "birds/test/robin/c.jpg"])
    (tmp_path / "cards.toml").write_text(BIRDS)
    return tmp_path / "cards.toml"


def test_a_dataset_beside_its_card_is_opened_by_name(birds):
    use_cards(birds)
    dataset = open_dataset("my-birds")
    assert (dataset.name, dataset.class_names, dataset.templates) == (
        "my-birds",
        ("wren", "robin"),
        ("a photo of a {}, a bird.",),
    )
    assert dataset.keys == ("robin/c.jpg", "wren/a.jpg", "wren/b.jpg")
    assert dataset.targets == (1, 0, 0)  # in the card's order of classes
    assert dataset.complete
    assert SUITES["mine"] == ("my-birds", "pets")
    assert "my-birds" not in SUITES["all"]


def test_a_dataset_below_the_data_root_comes_first(birds, tmp_path):
    put_images(tmp_path / "root", ["birds/test/wren/z.jpg", "birds/test/robin/z.jpg"])
    use_cards(birds)
    dataset = open_dataset("my-birds", root=tmp_path / "root")
    assert dataset.keys == ("robin/z.jpg", "wren/z.jpg")
    assert dataset.problems == ("2 images; the full test split has 3.",)


def test_the_environment_names_cards_too(birds, tmp_path, monkeypatch):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.toml").write_text(BIRDS.replace("my-birds", "other").replace("mine", "others"))
    monkeypatch.setenv("VIEWVOTE_DATASETS", f"{birds}:{tmp_path / 'more'}")
    assert len(open_dataset("my-birds")) == 3
    rows = {row.name: row for row in survey(None)}
    assert (rows["my-birds"].state, rows["my-birds"].suites) == ("found", ("mine",))
    assert (rows["other"].state, rows["pets"].state) == ("missing", "not looked for")


def test_classes_are_names_a_file_or_a_list_of_the_catalog(tmp_path):
    (tmp_path / "names.txt").write_text("wren\n\n robin \n")
    for given in ('"names.txt"', '["wren", "robin"]'):
        (tmp_path / "a.toml").write_text(BIRDS.replace('["wren", "robin"]', given))
        assert load_cards(tmp_path / "a.toml").cards["my-birds"].class_list.names == ("wren", "robin")
    (tmp_path / "a.toml").write_text(BIRDS.replace('["wren", "robin"]', '"imagenet"'))
    found = load_cards(tmp_path / "a.toml").cards["my-birds"].class_list
    assert found == CATALOG["imagenet"].class_list


def test_a_split_file_says_which_images_are_the_test_split(tmp_path):
    put_images(tmp_path / "birds", ["a.jpg", "b.jpg", "c.jpg"])
    (tmp_path / "birds" / "split.json").write_text(
        '{"train": [["c.jpg", 0, "wren"]], "val": [], "test": [["b.jpg", 0, "wren"], ["a.jpg", 1, "robin"]]}'
    )
    (tmp_path / "cards.toml").write_text(
        '[cards.b]\nreader = "split"\nsplit = "split.json"\n'
        'folders = ["birds"]\nclasses = ["wren", "robin"]\nimages = 2'
    )
    use_cards(tmp_path / "cards.toml")
    dataset = open_dataset("b")
    assert (dataset.keys, dataset.targets, dataset.complete) == (("a.jpg", "b.jpg"), (1, 0), True)


def test_what_is_not_there_is_named_with_the_card(tmp_path):
    (tmp_path / "cards.toml").write_text(BIRDS)
    use_cards(tmp_path / "cards.toml")
    with pytest.raises(DatasetNotFoundError, match=r"birds/test or .*It is described at .*cards\.toml"):
        open_dataset("my-birds")
    put_images(tmp_path, ["birds/test/duck/a.jpg"])
    with pytest.raises(DatasetNotFoundError, match=r"none of the 2 class folders .* named by name \(wren\) or label"):
        open_dataset("my-birds")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reader = "folders"', "", "cards.my-birds: reader is missing; expected 'folders' or 'split' or 'lists'"),
        ('reader = "folders"', 'reader = "csv"', "reader must be 'folders' or 'split' or 'lists'; got 'csv'"),
        ('reader = "folders"', 'reader = "split"', "split is missing; expected the name of the file"),
        ("images = 3", "image = 3", "cards.toml, cards.my-birds has no key 'image'. Did you mean 'images'?"),
        ("images = 3", "images = 0", "images must be a whole number of at least 1; got 0"),
        ("images = 3", 'images = 3\nwnids = ["n1"]', "wnids must be as many as the 2 classes; got 1"),
        ("images = 3", "images = 3\nmoved = {a = 3}", "moved: places must be a list of texts; got 3"),
        ('["birds/test"]', "[]", "folders must be a list of texts; got"),
        ('["wren", "robin"]', '"none.txt"', "no file or class list, named as classes in .*, cards.my-birds 'none.txt'"),
        ("a photo of a {}, a bird.", "a bird", "template must be a text with {} for the class; got 'a bird'"),
        ('["my-birds", "pets"]', '"pets"', "suites: mine must be a list of texts; got 'pets'"),
        ('["my-birds", "pets"]', '["duck"]', "no dataset, named in suite 'mine' 'duck'"),
        ("[cards.my-birds]", '[cards."my birds"]', "'my birds' cannot name a dataset or suite"),
        ("mine =", "my-birds =", "'my-birds' is there twice"),
        ("mine =", "nds =", "dataset or suite 'nds' exists already"),
        ("my-birds", "pets", "dataset or suite 'pets' exists already"),
        ("[cards.my-birds]", "[cards", "is not TOML"),
        ("[cards.my-birds]", "[card.my-birds]", "cards.toml has no key 'card'. Did you mean 'cards'?"),
    ],
)
def test_a_wrong_card_names_the_file_the_key_and_what_is_expected(tmp_path, old, new, message):
    (tmp_path / "cards.toml").write_text(BIRDS.replace(old, new))
    before = dict(CATALOG), dict(SUITES)
    with pytest.raises(UsageError, match=message):
        use_cards(tmp_path / "cards.toml")
    assert (dict(CATALOG), dict(SUITES)) == before


def test_a_place_without_cards_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="holds no cards; expected files that end in"):
        use_cards(tmp_path)
    with pytest.raises(UsageError, match=r"cannot read .*none\.toml: No such file"):
        use_cards(tmp_path / "none.toml")


def test_a_card_that_was_edited_is_read_again_but_another_files_is_not_replaced(birds, tmp_path):
    use_cards(birds)
    birds.write_text(BIRDS.replace("images = 3", "images = 9"))
    use_cards(birds)
    assert CATALOG["my-birds"].images == 9
    (tmp_path / "copy.toml").write_text(BIRDS)
    with pytest.raises(UsageError, match="'my-birds' exists already"):
        use_cards(tmp_path / "copy.toml")


def test_cards_travel_to_other_processes(birds):
    """As they do to the actors of a Ray cluster."""
    use_cards(birds)
    cards = pickle.loads(pickle.dumps(catalog.added_cards()))
    assert list(cards) == ["my-birds"]
    add_cards(cards)
    assert open_dataset("my-birds").complete


def test_an_unknown_dataset_is_suggested_one_of_the_users(birds):
    use_cards(birds)
    with pytest.raises(UnknownNameError, match="Did you mean 'my-birds'"):
        open_dataset("my-bird")
