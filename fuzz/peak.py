"""How far the memory of this process and of some others rises, as the system counts it (Linux).

`python -m fuzz.peak` measures what decoding one large picture takes, by format: each time in a fresh process that has
decoded a small file of the kind before. What was measured is kept, so a second call only makes the table.
"""

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kept import Kept
from benchmarks.sections import add_write, section

_FIGURES = re.compile(rb"VmHWM:\s*(\d+) kB\s*VmRSS:\s*(\d+) kB")


class Peak:
    """`start` sets the marks of highest memory back, `grown` is what they rose by since."""

    def __init__(self, processes: Callable[[], Iterable[int]] = lambda: ()) -> None:
        self._processes = processes
        self._files: dict[int, tuple[int, int]] = {}
        self._before: dict[int, int] = {}

    def start(self) -> None:
        """Set the marks back."""
        for pid in self._pids():
            figures = self._figures(pid)
            if figures is not None:
                self._before[pid] = figures[1]
                with suppress(OSError):
                    os.write(self._files[pid][1], b"5")

    def grown(self) -> float:
        """Megabytes that all of the processes rose by, each at its own time; of one that is new it cannot be known."""
        total = 0
        for pid in self._pids():
            figures = self._figures(pid)
            if figures is not None and pid in self._before:
                total += max(0, figures[0] - self._before[pid])
        return total * 1024 / 1e6

    def _pids(self) -> list[int]:
        pids = [os.getpid(), *self._processes()]
        for gone in self._files.keys() - set(pids):
            for file in self._files.pop(gone):
                os.close(file)
            self._before.pop(gone, None)
        return pids

    def _figures(self, pid: int) -> tuple[int, int] | None:
        """Highest and present kilobytes in memory; None where the process is gone."""
        try:
            if pid not in self._files:
                status = os.open(f"/proc/{pid}/status", os.O_RDONLY)
                self._files[pid] = status, os.open(f"/proc/{pid}/clear_refs", os.O_WRONLY)
            found = _FIGURES.search(os.pread(self._files[pid][0], 4096, 0))
        except OSError:
            return None
        return (int(found[1]), int(found[2])) if found else None


SIZE = (4000, 3000)
FACTORS = (1, 4)
KEPT = Path(__file__).parents[1] / "benchmarks" / "results" / "decode-memory.jsonl"
FILES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "JPEG": ("RGB", "JPEG", {}),
    "JPEG, progressive": ("RGB", "JPEG", {"progressive": True}),
    "PNG": ("RGB", "PNG", {}),
    "PNG, palette": ("P", "PNG", {}),
    "PNG, 16 bits": ("I;16", "PNG", {}),
    "PNG with transparency": ("RGBA", "PNG", {}),
    "GIF": ("P", "GIF", {}),
    "BMP": ("RGB", "BMP", {}),
    "PPM": ("RGB", "PPM", {}),
    "TGA": ("RGB", "TGA", {}),
    "TIFF, LZW": ("RGB", "TIFF", {"compression": "tiff_lzw"}),
    "AVIF": ("RGB", "AVIF", {}),
    "WebP": ("RGB", "WEBP", {}),
    "WebP, lossless": ("RGB", "WEBP", {"lossless": True}),
    "JPEG 2000": ("RGB", "JPEG2000", {}),
}
"""The title, and how Pillow writes such a file: mode, format, options."""

_DECODE = "import sys; from fuzz.peak import rise; print(rise(sys.argv[1], sys.argv[2], int(sys.argv[3])))"


def rise(large: str, small: str, factor: int) -> float:
    """Megabytes that decoding the large file takes here and in the process apart, after a small one of its kind."""
    from viewvote.images.photo import open_photo

    from .targets.images import processes

    open_photo(Path(small).read_bytes()).levels({factor})
    data, peak = Path(large).read_bytes(), Peak(processes)
    peak.start()
    open_photo(data).levels({factor})
    return round(peak.grown(), 1)


def written(title: str, size: tuple[int, int]) -> bytes:
    """A file with rows of one grey each, so that its encoded bytes are few."""
    from PIL import Image

    mode, kind, options = FILES[title]
    grey = Image.linear_gradient("L").resize(size)
    sixteen = mode == "I;16"
    picture = grey.convert("I").point(lambda value: value * 257).convert(mode) if sixteen else grey.convert(mode)
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def measured(title: str) -> dict[str, float]:
    """Megabytes by how many times the sides are reduced, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = (Path(folder) / name for name in ("large", "small"))
        large.write_bytes(written(title, SIZE))
        small.write_bytes(written(title, (64, 64)))
        found = {}
        for factor in FACTORS:
            command = [sys.executable, "-c", _DECODE, large, small, str(factor)]
            found[str(factor)] = float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        return found


def table(found: Mapping[str, list[dict[str, float]]]) -> Iterator[str]:
    """A row for each kind of file, the cheapest first: medians."""
    middle = {title: [median(one[str(f)] for one in rounds) for f in FACTORS] for title, rounds in found.items()}
    yield "| file | n | whole | a quarter | a pixel of the file, a quarter |"
    yield "|---|---|---|---|---|"
    for title, (whole, quarter) in sorted(middle.items(), key=lambda one: one[1][1]):
        pixel = quarter * 1e6 / (SIZE[0] * SIZE[1])
        yield f"| {title} | {len(found[title])} | {whole:.0f} MB | {quarter:.0f} MB | {pixel:.1f} bytes |"


def main() -> None:
    """Measure what is not kept yet, and print the table."""
    parser = argparse.ArgumentParser(prog="fuzz.peak", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--anew", action="store_true", help="forget what was measured")
    add_write(parser)
    args = parser.parse_args()
    place = section("fuzz.peak", write=args.write)
    kept = Kept(KEPT, {"size": SIZE}, anew=args.anew)
    rounds = range(args.rounds)
    place.show(table({title: [kept.unit([title, i], lambda t=title: measured(t)) for i in rounds] for title in FILES}))


if __name__ == "__main__":
    main()
