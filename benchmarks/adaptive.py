"""What fewer views cost: views used, agreement with the full budget and accuracy, from the records of a run.

    python -m benchmarks.adaptive RUN [RUN...] [--keep 0.3] [--json FILE]

A RUN is a folder of `viewvote eval` or a file of records with all views of every image. Rows are fixed numbers of views
(1 is plain zero-shot), adaptive views with the thresholds that ship, and the exact rule. Intervals are Wilson's, 95%.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from viewvote.metrics.replay import exact_views, replay
from viewvote.metrics.rescore import Answers, Setting, rescore
from viewvote.rates import Rate, rate_of
from viewvote.stopping.adaptive import shipped_calibrations
from viewvote.stopping.calibrate import outcome

VIEWS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Row:
    mode: str
    views: float
    agreement: Rate
    accuracy: Rate

    def to_dict(self) -> dict[str, object]:
        return {
            "mode": self.mode,
            "views": self.views,
            "agreement": vars(self.agreement),
            "accuracy": vars(self.accuracy),
        }

    def __str__(self) -> str:
        return f"| {self.mode} | {self.views:.1f} | {percent(self.agreement)} | {percent(self.accuracy)} |"


def percent(rate: Rate) -> str:
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f}-{100 * rate.high:.1f})"


def fixed(mode: str, views: float, found: Answers, full: Answers) -> Row:
    return Row(mode, views, rate_of(found.index == full.index, full.usable), rate_of(found.correct, full.usable))


def rows_of(records: Path, keep: float) -> list[Row]:
    replayed = replay(records, keep=keep)
    budget = replayed.rounds[-1]
    numbers = [n for n in VIEWS if n < budget] + [budget]
    answers = rescore(records, [Setting(views=n, keep=keep) for n in numbers])
    full = answers[-1]
    rows = [fixed(f"first {n}", n, found, full) for n, found in zip(numbers, answers, strict=True)]
    rows.append(fixed("exact", exact_views(records, keep=keep), full, full))
    for calibration in shipped_calibrations():
        if (calibration.budget, calibration.keep) == (budget, keep):
            found = outcome(replayed, calibration.thresholds)
            rows.append(Row(f"adaptive, {calibration.disagreement:g}", found.views, found.agreement, found.accuracy))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--keep", type=float, default=0.3)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    args = parser.parse_args()
    tables = {}
    for run in args.runs:
        rows = rows_of(run / "records.jsonl" if run.is_dir() else run, args.keep)
        tables[run.name] = [row.to_dict() for row in rows]
        print(f"\n{run.name}, n = {rows[0].agreement.n}, keep {args.keep}\n")
        print("| mode | views | same answer, % | accuracy, % |\n|---|---|---|---|")
        print("\n".join(map(str, rows)))
    if args.json is not None:
        args.json.write_text(json.dumps({"keep": args.keep, "runs": tables}, indent=1) + "\n")


if __name__ == "__main__":
    main()
