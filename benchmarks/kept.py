"""Measurements kept on disk as they are made, so that a run that was cut off goes on where it ended."""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def add_records(parser: argparse.ArgumentParser, name: str) -> None:
    """The options of commands whose measurements are kept in the repository."""
    parser.add_argument("--records", type=Path, default=RESULTS / f"{name}.jsonl", help="what is measured is kept here")
    parser.add_argument("--anew", action="store_true", help="measure what was measured before once more")


class Kept:
    """Lines of JSON: the settings of a run first, then every unit of work with what came of it and the load then."""

    def __init__(self, path: Path, settings: dict[str, Any], *, anew: bool = False) -> None:
        self._path = path
        self._found: dict[str, Any] = {}
        self.loads: list[float] = []
        settings = json.loads(json.dumps(settings))
        lines = [] if anew or not path.exists() else path.read_text().splitlines()
        if lines and json.loads(lines[0]) != settings:
            raise SystemExit(f"{path} is of a run with other settings; --anew starts over.")
        if not lines:
            path.write_text(json.dumps(settings) + "\n")
        for line in lines[1:]:
            if line.endswith("}"):  # the last one may have been cut off
                self._take(**json.loads(line))

    def unit(self, name: list[Any], work: Callable[[], Any]) -> Any:
        """What came of this unit: from the file where it is there, else of `work`."""
        if self._key(name) not in self._found:
            one = {"unit": name, "found": work(), "load": os.getloadavg()[0]}
            with self._path.open("a") as file:
                file.write("\n" if self._is_cut else "")
                file.write(json.dumps(one) + "\n")
            self._take(**json.loads(json.dumps(one)))
        return self._found[self._key(name)]

    @property
    def _is_cut(self) -> bool:
        return not self._path.read_bytes().endswith(b"\n")

    def _take(self, unit: list[Any], found: Any, load: float) -> None:
        self._found[self._key(unit)] = found
        self.loads.append(load)

    @staticmethod
    def _key(name: list[Any]) -> str:
        return json.dumps(name)
