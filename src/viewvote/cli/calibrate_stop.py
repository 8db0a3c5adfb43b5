"""`viewvote calibrate-stop`: thresholds for adaptive views from the records of runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .guard import complain, guarded

HELP = """Calibrate adaptive views on the records of runs that looked at all views.

All records choose when to stop; what to expect of it is measured with each half on the thresholds of the other.

[bold]Examples[/bold]

  viewvote calibrate-stop runs/imagenet-pocket-zero-0123456789ab --output stop.json

  viewvote classify photos/ --labels "cat,dog" --views adaptive --stop stop.json
"""


@guarded
def calibrate_stop(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or files of records.")],
    disagreement: Annotated[
        list[float] | None, typer.Option(help="Accepted rate of other answers than with all views; may be repeated.")
    ] = None,
    keep: Annotated[float, typer.Option(help="The share of views that vote.")] = 0.3,
    budget: Annotated[int | None, typer.Option(min=1, help="Views at most; by default those of the records.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the thresholds to this file.")] = None,
) -> None:
    """Calibrate adaptive views on the records of runs."""
    import json

    from ..errors import UsageError
    from ..metrics.replay import replay
    from ..runs.read import provenance_of, records_at
    from ..stopping.calibrate import calibrate, joined

    replayed = joined([replay(records_at(run), keep=keep, budget=budget) for run in runs])
    provenance = {"runs": [provenance_of(run) for run in runs], "records": len(replayed.keys)}
    found = [calibrate(replayed, disagreement=rate, provenance=provenance) for rate in disagreement or [0.01]]
    text = json.dumps({"calibrations": [one.to_dict() for one in found]}, indent=1)
    if output is None:
        typer.echo(text)
    else:
        try:
            output.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror or error}.") from error
    for one in found:
        complain(f"disagreement {one.disagreement:g}: {_shown(one.held_back)}")


def _shown(measured: dict[str, Any]) -> str:
    low, high = measured["agreement_interval"]
    return (
        f"{measured['views_used']} views on average, {measured['agreement']:.2%} the same answers "
        f"[{low:.2%}, {high:.2%}] on the {measured['n']} records held back."
    )
