"""Changes to bytes, to text and to JSON values that parsers are known to trip over."""

import json
import random
from typing import Any

ODD_NUMBERS = (0, -1, 1, 2**31, 2**63, 10**30, -(10**30), 0.5, 1e308, -1e-308, float("nan"), float("inf"))
ODD_TEXTS = ("", "\0", "\ud800", "a" * 300, "é\u202e", "../../x", "{}", "nan", "\r\n", "1e999")
ODD_VALUES = (*ODD_NUMBERS, *ODD_TEXTS, None, True, False, [], {}, [[]], [None], {"": None})
_WORDS = (b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\0\0\x40\0")


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """The bytes with some changed, cut, repeated, or numbers in them made extreme."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out)) if out else 0
        match rng.randrange(6):
            case 0:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                out[at : at + rng.randint(1, 64)] = b""
            case 2:
                out[at:at] = out[at : at + rng.randint(1, 256)]
            case 3:
                out[at : at + 4] = rng.choice(_WORDS)
            case 4:
                out = out[: max(1, at)]
            case 5:
                out[:at] = rng.randbytes(min(at, 8)) + out[min(at, 8) : at]
    return bytes(out)


def mutated_json(value: Any, rng: random.Random) -> Any:
    """The value with one of its parts, at any depth, replaced, dropped, doubled, renamed or nested."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return _replaced(value, rng)
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    key = rng.choice(list(changed)) if isinstance(changed, dict) else rng.randrange(len(changed))
    match rng.randrange(10):
        case 0:
            del changed[key]
        case 1 if isinstance(changed, dict):
            changed[rng.choice(ODD_TEXTS)] = changed.pop(key)
        case 1:
            changed.insert(key, changed[key])
        case 2 if isinstance(changed, list):
            rng.shuffle(changed)
        case _:
            changed[key] = mutated_json(changed[key], rng)
    return changed


def _replaced(value: Any, rng: random.Random) -> Any:
    """Another value: a near one, an odd one, or the same in a list."""
    near = rng.random() < 0.4
    if near and isinstance(value, int | float):
        return rng.choice([-value, value + 1, value * 2, str(value), float(value) if abs(value) < 1e300 else 0])
    if near and isinstance(value, str):
        return rng.choice([value + value, value[:-1], value.upper(), [value], value + "\0"])
    return [value] if near else rng.choice(ODD_VALUES)


def mutated_json_bytes(data: bytes, rng: random.Random) -> bytes:
    """JSON as `mutated_json` changes it, several times; bytes that are no JSON, and some that are, as bytes."""
    if rng.random() < 0.2:
        return mutated_bytes(data, rng)
    if rng.random() < 0.02:
        return data.replace(b":", b":" + b"[" * 100_000, 1)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return mutated_bytes(data, rng)
    for _ in range(rng.randint(1, 4)):
        value = mutated_json(value, rng)
    return json.dumps(value).encode()


def mutated_lines(data: bytes, rng: random.Random) -> bytes:
    """Lines dropped, doubled, moved, joined, or changed as bytes."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0 if len(lines) > 1:
                del lines[at]
            case 1:
                lines.insert(rng.randrange(len(lines) + 1), lines[at])
            case 2 if at:
                lines[at - 1 : at + 1] = [lines[at - 1] + lines[at]]
            case 3:
                lines[at] = lines[at].replace(
                    rng.choice([b",", b'"', b"/", b"="]), rng.choice([b"", b"\0", b"\r", b'"'])
                )
            case _:
                lines[at] = mutated_bytes(lines[at], rng)
    return b"\n".join(lines)


def join_files(files: dict[str, bytes]) -> bytes:
    """Several files as one input: their names and bytes, in JSON that stays readable where they are text."""
    return json.dumps({name: data.decode("latin-1") for name, data in files.items()}).encode()


def split_files(data: bytes) -> dict[str, bytes]:
    """The files of an input of `join_files`; none where it is no such input any more."""
    try:
        found = json.loads(data)
        return {name: text.encode("latin-1") for name, text in found.items() if "/" not in name and name.isascii()}
    except (ValueError, AttributeError, RecursionError):
        return {}


def first_file(data: bytes) -> str:
    """The name of the first file: the kind of an input of `join_files`."""
    return next(iter(split_files(data)), "none")


def mutated_files(data: bytes, rng: random.Random) -> bytes:
    """One of the files changed as its ending suggests, or left out."""
    files = split_files(data)
    if not files:
        return data
    name = rng.choice(sorted(files))
    if len(files) > 1 and rng.random() < 0.03:
        del files[name]
        return join_files(files)
    ending = name.rpartition(".")[2]
    change = {"json": mutated_json_bytes, "jsonl": _mutated_json_line, "csv": mutated_lines, "txt": mutated_lines}
    change["toml"] = _mutated_toml
    files[name] = change.get(ending, mutated_bytes)(files[name], rng)
    return join_files(files)


def _mutated_json_line(data: bytes, rng: random.Random) -> bytes:
    """One line changed as JSON, or all as lines."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if rng.random() < 0.2 or not lines[at]:
        return mutated_lines(data, rng)
    lines[at] = mutated_json_bytes(lines[at], rng)
    return b"\n".join(lines)


_TOML_VALUES = ("-1", "0", "10000000000000000000000000000000", "nan", "inf", "true", '""', '"a"', "[]", "[1]", "{}")
_TOML_VALUES += (
    '["a"]',
    '"\\u0000"',
    "1979-05-27",
    "[" * 2000,
    '"' + "x" * 5000 + '"',
    '"../x"',
    "{a = {a = 1}}",
    "64",
)


def _mutated_toml(data: bytes, rng: random.Random) -> bytes:
    """The value of one key replaced, or lines changed."""
    lines = data.split(b"\n")
    keys = [i for i, line in enumerate(lines) if b" = " in line]
    if not keys or rng.random() < 0.3:
        return mutated_lines(data, rng)
    at = rng.choice(keys)
    lines[at] = lines[at].partition(b" = ")[0] + b" = " + rng.choice(_TOML_VALUES).encode()
    return b"\n".join(lines)
