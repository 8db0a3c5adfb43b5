"""Templates, class names, and the prompts they make together."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from ..errors import UsageError
from ..fields import is_text, shown
from ..registry import unknown_name

SLOT = "{}"


@cache
def template_sets() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The named template sets: name -> (one line about it, templates)."""
    data = json.loads((files("viewvote.labels") / "templates.json").read_text(encoding="utf-8"))
    return {name: (entry["summary"], tuple(entry["templates"])) for name, entry in data.items()}


def resolve_templates(templates: str | Sequence[str]) -> tuple[str, ...]:
    """The templates of a set's name, of one template, or of a list of templates."""
    if isinstance(templates, str):
        if SLOT not in templates:
            if templates not in template_sets():
                raise unknown_name("template set", templates, [*template_sets(), f"your own with {SLOT}"])
            return template_sets()[templates][1]
        templates = [templates]
    for template in templates:
        if not is_text(template):
            raise UsageError(f"template {shown(template)} is not text; expected one with {SLOT} for the label.")
        if SLOT not in template:
            raise UsageError(f"template {shown(template)} has no place for the label; write {SLOT} where it belongs.")
    if not templates:
        raise UsageError("the list of templates is empty; give at least one, e.g. 'a photo of a {}.'")
    return tuple(templates)


def fill(template: str, name: str) -> str:
    """The prompt of one class. Underscores become spaces, as in every CLIP code; braces in a name stay as they are."""
    return template.replace(SLOT, name.replace("_", " "))
