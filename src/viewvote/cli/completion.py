"""What the shell offers after an option, by a press of the tab key."""

from collections.abc import Callable, Iterable


def offer_models(incomplete: str) -> list[str]:
    """Model ids that start so; of a family with its own names, the scheme."""
    from ..encoders.catalog import list_models

    return _starting(incomplete, (row.model.split("<")[0] for row in list_models()))


def offer_methods(incomplete: str) -> list[str]:
    """Methods that start so."""
    from ..methods import METHODS

    return _starting(incomplete, METHODS)


def offer_templates(incomplete: str) -> list[str]:
    """Template sets that start so."""
    from ..labels.templates import template_sets

    return _starting(incomplete, template_sets())


def offer_datasets(incomplete: str) -> list[str]:
    """Datasets of the catalog that start so."""
    from ..datasets import CATALOG

    return _starting(incomplete, CATALOG)


def offering(names: Iterable[str]) -> Callable[[str], list[str]]:
    """A completer for a fixed list of names."""
    fixed = tuple(names)

    def complete(incomplete: str) -> list[str]:
        return _starting(incomplete, fixed)

    return complete


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
