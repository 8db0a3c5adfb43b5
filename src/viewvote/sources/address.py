"""Addresses: what is written scheme://... and read through fsspec."""

import re
from typing import Any

from ..errors import MissingExtraError, UsageError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "sftp": "paramiko",
    "hdfs": "pyarrow",
}
"""The package that each scheme needs beside fsspec."""


def scheme_of(text: str) -> str | None:
    """The scheme of an address in small letters; None for what lies on this machine."""
    found = _SCHEME.match(text)
    return found[1].lower() if found else None


def is_address(text: str) -> bool:
    """Whether the text is an address, not a path."""
    return scheme_of(text) is not None


def file_system(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address, and the address as that names it. Listings are not kept in memory."""
    scheme = scheme_of(address)
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError.for_extra("bulk", what=f"reading {scheme}:// addresses") from error
    try:
        found, path = fsspec.core.url_to_fs(address, use_listings_cache=False)
    except ImportError as error:
        package = PACKAGES.get(scheme or "", "its fsspec package")
        raise MissingExtraError(f"{scheme}:// needs {package}. Install it with: pip install {package}") from error
    except OSError as error:
        raise UsageError(f"cannot use {address}: {str(error).rstrip('.') or type(error).__name__}.") from error
    except (ValueError, NotImplementedError) as error:
        known = ", ".join(sorted(PACKAGES))
        raise UsageError(f"cannot use {address}: {str(error).rstrip('.')}. Schemes that are known: {known}.") from error
    return found, path
