"""`viewvote calibrate-stop`: thresholds for adaptive views from the records of runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as opt
from .guard import complain, guarded
from .printing import put_text

HELP = """Calibrate adaptive views on the records of runs that looked at all views.

All records choose when to stop; what to expect of it is measured with each half on the thresholds of the other.
Runs of the same images with two or more seeds show how often the vote differs from itself; [bold]--disagreement
noise[/bold] accepts that rate, and no more than half a point of accuracy.

[bold]Examples[/bold]

  viewvote calibrate-stop runs/imagenet-pocket-zero-0123456789ab --output stop.json

  viewvote calibrate-stop runs/photos-* --method anchored --disagreement noise --output stop.json

  viewvote classify photos/ --labels "cat,dog" --views adaptive --stop stop.json
"""


@guarded
def calibrate_stop(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=f"{opt.RUNS} Or files of records.")],
    disagreement: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATE|noise|strict",
            help="Accepted rate of other answers than with all views; may be repeated. strict is 1%.",
            show_default="strict",
            rich_help_panel=opt.VOTE,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The vote: zero or anchored.",
            show_default="that of the runs",
            rich_help_panel=opt.VOTE,
        ),
    ] = None,
    keep: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of views that vote.", rich_help_panel=opt.VOTE)
    ] = 0.3,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Views at most.", show_default="those of the records", rich_help_panel=opt.VOTE
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the thresholds to this file.",
            show_default="standard output",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    overwrite: opt.OverwriteOption = False,
) -> None:
    """Calibrate adaptive views on the records of runs."""
    import json

    from ..outputs import check_output
    from ..report.stopping import calibrate_runs
    from ..stopping.adaptive import STRICT

    if output is not None:
        check_output(output, overwrite=overwrite)
    asked = [_rate(text) for text in disagreement or [STRICT]]
    found, noise = calibrate_runs(runs, disagreements=asked, method=method, keep=keep, budget=budget)
    put_text(json.dumps({"calibrations": [one.to_dict() for one in found]}, indent=1) + "\n", output)
    for name, rate in noise.items():
        complain(
            f"{name}: two seeds of all views differ in {rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}] (n {rate.n})."
        )
    for one in found:
        named = f"{one.level} ({one.disagreement:.2%})" if one.level else f"{one.disagreement:g}"
        complain(f"disagreement {named}: {_shown(one.held_back)}")


def _rate(text: str) -> float | str:
    """The rate to calibrate for, or "noise"."""
    from ..errors import UsageError
    from ..stopping.adaptive import STRICT, STRICT_RATE
    from ..stopping.options import EXACT, read_disagreement

    asked = read_disagreement(text)
    if asked == EXACT:
        raise UsageError("exact needs no thresholds, so there is nothing to calibrate; give a rate, noise or strict.")
    return STRICT_RATE if asked == STRICT else asked


def _shown(measured: dict[str, Any]) -> str:
    low, high = measured["agreement_interval"]
    return (
        f"{measured['views_used']} views on average, {measured['agreement']:.2%} the same answers "
        f"[{low:.2%}, {high:.2%}], accuracy {measured['accuracy']:.1%} (all views {measured['full_accuracy']:.1%}) "
        f"on the {measured['n']} records held back."
    )
