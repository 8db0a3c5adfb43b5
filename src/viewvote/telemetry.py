"""Nothing leaves the machine: libraries that report to their makers are kept from it before they are imported."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime 1.31 numbers the machine, stores events and sends them
    "HF_HUB_DISABLE_TELEMETRY": "1",  # the hub's client states in each request what uses it
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray describes the cluster every hour
}
"""Environment variables; what a user has set stays, as reports are the user's to switch on."""


def switch_off() -> None:
    """Set the SWITCHES that are not set."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)


@contextmanager
def without_openvino_telemetry() -> Iterator[None]:
    """Let `import openvino` find no telemetry package, for which it has a stub: it has no switch.

    With the package it writes a number of this machine into ~/intel and sends an event whenever it is imported.
    """
    name = "openvino_telemetry"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # as the import system documents it
    try:
        yield
    finally:
        del sys.modules[name]
