"""Methods are measured in turn, and the memory of devices is read from torch."""

from types import SimpleNamespace

import pytest

from viewvote.studies.cost import device_mb, rounds


def test_every_image_starts_with_another_method():
    assert list(rounds(3, 2)) == [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]


def torch_with(*, cuda=(), apple=None):
    """What `device_mb` asks of torch, on a machine with these devices; there is none where the tests run."""
    return SimpleNamespace(
        cuda=SimpleNamespace(
            is_available=lambda: bool(cuda), device_count=lambda: len(cuda), max_memory_allocated=lambda i: cuda[i]
        ),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: apple is not None)),
        mps=SimpleNamespace(driver_allocated_memory=lambda: apple),
    )


@pytest.mark.parametrize(
    ("torch", "expected"),
    [
        (None, None),
        (torch_with(), None),
        (torch_with(cuda=(1_500_000_000, 250_000_000)), 1750.0),
        (torch_with(cuda=(0, 0)), None),
        (torch_with(apple=96_000_000), 96.0),
    ],
)
def test_memory_of_all_devices_counts_and_none_is_none(torch, expected):
    assert device_mb(torch) == expected


def test_the_torch_that_is_installed_can_be_asked():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is a device, which other tests may have used")
    assert device_mb(torch) is None
    assert callable(torch.cuda.max_memory_allocated)
    assert callable(torch.mps.driver_allocated_memory)
