"""Skips the tests of the service where its extra is not installed; one service serves the tests that only ask."""

import pytest

pytest.importorskip("fastapi", reason="needs the serve extra")
pytest.importorskip("prometheus_client", reason="needs the serve extra")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    from tests.server.living import running

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIEWVOTE_CACHE", str(tmp_path_factory.getbasetemp() / "viewvote-cache"))
        with running() as found:
            yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the browser's profile is and what it saves."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def driver(folder):
    """A browser, or a skip where there is none."""
    from tests.server.browser import chromium, missing

    if why := missing():
        pytest.skip(why)
    with chromium(folder) as found:
        yield found


@pytest.fixture(scope="module")
def toy(driver, client):
    """The page of the toy service."""
    from tests.server.browser import Page

    return Page(driver, client.url)


@pytest.fixture(scope="module")
def pocket(driver):
    """The page of a service with the embedded model and no labels of its own."""
    from tests.server.browser import Page
    from tests.server.living import running
    from viewvote.encoders import load_encoder

    with running(load_encoder("pocket"), labels=None, views=16) as client:
        yield Page(driver, client.url)
