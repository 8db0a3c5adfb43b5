"""A service with a context: requests with its labels are answered with it, others as if there were none."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.classify.test_context import tinted
from tests.server.living import COLOURS, SETTINGS, running
from viewvote import Classifier, ToyEncoder, UsageError
from viewvote.context.file import write_context
from viewvote.server.service import Service


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A context of the service's labels, as a file."""
    path = tmp_path_factory.mktemp("context") / "my.context.json"
    context = Classifier(ToyEncoder(), labels=list(COLOURS), n_views=8).with_context(tinted(45)).context
    write_context(context, path)
    return path, context


@pytest.fixture(scope="module")
def service(made):
    with running(context=str(made[0])) as found:
        yield found


def photo():
    stream = io.BytesIO()
    Image.fromarray(tinted(5, seed=3)[4]).save(stream, "PNG")
    return stream.getvalue()


def test_requests_with_its_labels_are_answered_with_it(service, made):
    found = service.classify(photo()).json["predictions"][0]
    expected = Classifier(ToyEncoder(), labels=list(COLOURS), n_views=8, context=made[1])(photo())
    assert found["context"]["digest"] == made[1].digest
    assert list(found["scores"].values()) == pytest.approx(
        [float(expected.scores[i]) for i in expected.ranking()], abs=1e-6
    )


@pytest.mark.parametrize("options", [{"labels": ["blue", "red"]}, {"templates": "ensemble"}])
def test_other_labels_and_templates_are_answered_without(service, options):
    found = service.classify(photo(), **options).json["predictions"][0]
    assert "context" not in found


def test_a_context_of_other_labels_does_not_start(made):
    for settings, match in (
        (replace(SETTINGS, labels=("red", "blue"), context=str(made[0])), "other labels"),
        (replace(SETTINGS, labels=None, context=str(made[0])), "--labels"),
        (replace(SETTINGS, context="none.json"), "none.json"),
    ):
        with pytest.raises(UsageError, match=match):
            Service(settings, encoder=ToyEncoder())


def test_all_answers_of_a_service_are_of_one_context(service, made):
    digests = {service.classify(photo(), views=views).json["predictions"][0]["context"]["digest"] for views in (1, 8)}
    assert digests == {made[1].digest}
    assert np.abs(made[1].offsets).max() > 0.1
