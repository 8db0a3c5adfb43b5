"""What `import viewvote` promises."""

import builtins
import doctest
import inspect
import subprocess
import sys

import pytest

import viewvote
from viewvote import errors


def test_all_is_what_is_there():
    assert sorted(viewvote.__all__) == viewvote.__all__
    for name in viewvote.__all__:
        assert hasattr(viewvote, name)
    assert set(viewvote.__all__) <= set(dir(viewvote))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = viewvote.nothing


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [("import viewvote; viewvote.Classifier", "HEAVY"), ("import viewvote.cli.commands", "HEAVY numpy PIL")],
)
def test_importing_loads_nothing_heavy(statement, unwanted):
    heavy = [*HEAVY, *unwanted.split()[1:]]
    code = f"{statement}; import sys; print([m for m in sys.modules if m in {heavy!r}])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


HEAVY = [
    "torch",
    "ray",
    "fastapi",
    "matplotlib",
    "onnxruntime",
    "openvino",
    "transformers",
    "open_clip",
    "huggingface_hub",
]


def test_the_example_of_the_classifier_runs():
    (example,) = doctest.DocTestFinder(recurse=False).find(viewvote.Classifier, "Classifier", globs={})
    assert len(example.examples) >= 5
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_docstring_of_the_classifier_names_every_parameter():
    parameters = set(inspect.signature(viewvote.Classifier).parameters)
    rows = {line.split()[0] for line in inspect.getdoc(viewvote.Classifier).splitlines() if line.strip()}
    assert parameters - rows == {"unique_labels", "url_timeout"}  # are named beside labels and allow_urls
    assert "unique_labels=False" in viewvote.Classifier.__doc__
    assert "`url_timeout` seconds" in viewvote.Classifier.__doc__


def test_every_error_is_ours_and_a_builtin_too():
    ours = [getattr(errors, name) for name in errors.__all__]
    for error in ours:
        assert issubclass(error, errors.ViewvoteError)
        if error is not errors.ViewvoteError:
            builtin_parents = [b for b in error.__mro__ if b.__module__ == "builtins" and b not in (object, Exception)]
            assert any(b is not builtins.BaseException for b in builtin_parents)
    assert {e.__name__ for e in ours} == {n for n, v in vars(errors).items() if inspect.isclass(v)}


def test_the_error_tree_in_the_docstring_is_the_real_one():
    for error in (getattr(errors, name) for name in errors.__all__):
        assert error.__name__ in errors.__doc__


def test_messages_are_not_quoted_and_never_empty():
    assert str(errors.UnknownNameError("no model 'x'.")) == "no model 'x'."
    assert str(errors.ModelNotFoundError("gone")) == "gone"
    assert str(errors.ViewvoteError()) == "ViewvoteError"


def test_a_missing_extra_says_what_to_install():
    error = errors.MissingExtraError.for_extra("torch", what="model 'open_clip:ViT-B-16'")
    assert 'pip install "viewvote[torch]"' in str(error)
    assert error.exit_code == 2
