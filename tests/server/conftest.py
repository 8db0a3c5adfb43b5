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
