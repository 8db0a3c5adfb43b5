"""No library that is imported by ours reports to its makers."""

import os
import subprocess
import sys
from importlib import import_module

import pytest

from viewvote.telemetry import SWITCHES, without_openvino_telemetry


def switches_after(statement: str, **environment: str) -> str:
    """The values of the SWITCHES in a new process once `statement` has run."""
    clean = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    code = f"{statement}; import os; print(*(os.environ.get(name) for name in {list(SWITCHES)!r}))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_viewvote_switches_the_reports_of_libraries_off() -> None:
    assert switches_after("pass") == "None None None"
    assert switches_after("import viewvote") == "1 1 0"
    assert switches_after("import viewvote.cli.commands") == "1 1 0"


def test_what_the_user_has_set_stays() -> None:
    assert switches_after("import viewvote", RAY_USAGE_STATS_ENABLED="1") == "1 1 1"


def test_openvino_finds_no_telemetry_while_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "openvino_telemetry", raising=False)
    with without_openvino_telemetry(), pytest.raises(ImportError):
        import_module("openvino_telemetry")
    assert "openvino_telemetry" not in sys.modules


def test_telemetry_that_a_program_has_imported_itself_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino_telemetry", pytest)  # any module
    with without_openvino_telemetry():
        assert import_module("openvino_telemetry") is pytest
    assert sys.modules["openvino_telemetry"] is pytest
