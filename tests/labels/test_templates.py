"""Templates by name, one or many, and how a label goes into them."""

import pytest

from viewvote.errors import UnknownNameError, UsageError
from viewvote.labels.templates import fill, resolve_templates, template_sets


def test_the_papers_sets_are_there():
    assert resolve_templates("photo") == ("a photo of a {}.",)
    ensemble = resolve_templates("ensemble")
    assert len(ensemble) == 7
    assert set(ensemble) == {
        "itap of a {}.",
        "a bad photo of the {}.",
        "a origami {}.",
        "a photo of the large {}.",
        "a {} in a video game.",
        "art of the {}.",
        "a photo of the small {}.",
    }
    assert len(set(resolve_templates("imagenet80"))) == 80
    assert resolve_templates("coop-dtd") == ("{} texture.",)


def test_every_template_has_one_place_for_the_label():
    for _, templates in template_sets().values():
        assert all(template.count("{}") == 1 for template in templates)


def test_your_own_templates_are_taken_as_they_are():
    assert resolve_templates("an x-ray of {}") == ("an x-ray of {}",)
    assert resolve_templates(["{} a", "{} b"]) == ("{} a", "{} b")


def test_wrong_templates_are_errors():
    with pytest.raises(UnknownNameError, match="Did you mean 'ensemble'"):
        resolve_templates("ensembel")
    with pytest.raises(UsageError, match="no place for the label"):
        resolve_templates(["a photo"])
    with pytest.raises(UsageError, match="empty"):
        resolve_templates([])


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("cat", "a photo of a cat."),
        ("ice_cream", "a photo of a ice cream."),
        ("{}", "a photo of a {}."),
        ("{0} {name}", "a photo of a {0} {name}."),
        ("猫", "a photo of a 猫."),
        ("100%", "a photo of a 100%."),
    ],
)
def test_labels_are_inserted_literally(name, prompt):
    assert fill("a photo of a {}.", name) == prompt
