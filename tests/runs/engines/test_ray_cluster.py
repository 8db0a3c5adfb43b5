"""Addresses of Ray clusters that are not there: an error at once, never a wait."""

import socket

import pytest

from viewvote.errors import RunError
from viewvote.runs.engines.ray.cluster import check_reachable, connected


@pytest.fixture
def closed_port():
    """A port of this machine where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it meanwhile
        yield taken.getsockname()[1]


@pytest.fixture
def open_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "ray://127.0.0.1:{}/path", "localhost:{}"])
def test_a_host_is_asked_whether_it_listens(form, closed_port, open_port):
    check_reachable(form.format(open_port))
    with pytest.raises(ConnectionRefusedError):
        check_reachable(form.format(closed_port))


@pytest.mark.parametrize("address", [None, "", "auto", "local", "head-node"])
def test_what_names_no_port_is_left_to_ray(address):
    check_reachable(address)


def test_a_cluster_that_is_not_there_is_told_at_once(closed_port, monkeypatch):
    pytest.importorskip("ray")
    address = f"127.0.0.1:{closed_port}"
    with (
        pytest.raises(RunError, match=rf"cannot connect to Ray at {address}: .*refused.*`ray status`"),
        connected(address),
    ):
        pytest.fail("connected to nobody")
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(RunError, match=rf"cannot connect to Ray at {address}"), connected(None):
        pytest.fail("connected to nobody")


@pytest.mark.parametrize("address", ["127.0.0.1:many", "ray://127.0.0.1:99999"])
def test_a_port_that_is_none_is_told(address):
    pytest.importorskip("ray")
    with pytest.raises(RunError, match=f"cannot connect to Ray at {address}: .*[Pp]ort"), connected(address):
        pytest.fail("connected to nobody")


def test_without_an_address_ray_is_a_new_one_of_its_own(monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    asked = []
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **options: asked.append(options["address"]))
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with connected(None):
        pass
    assert asked == ["local"]  # None would join the cluster that was last started on this machine
