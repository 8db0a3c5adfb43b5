"""`viewvote calibrate`: a probability fitted on the records of runs."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as opt
from .guard import complain, guarded
from .printing import put_text

HELP = """Fit the probability of answers on the records of runs with known labels.

All records make the fit; what to expect of it is measured with each half on the fit of the other. Labelled photos like
those you will ask about are worth more than many others: a few hundred are enough.

[bold]Examples[/bold]

  viewvote eval --dataset photos/ --method anchored

  viewvote calibrate runs/ --output cal.json

  viewvote classify new/ --labels "cat,dog" --calibration cal.json
"""


@guarded
def calibrate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help=f"{opt.RUNS} All of one method and model.")],
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the calibration to this file.",
            show_default="standard output",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    overwrite: opt.OverwriteOption = False,
) -> None:
    """Fit the probability of answers on the records of runs."""
    from ..outputs import check_output
    from ..runs.calibrate import calibrate_runs

    if output is not None:
        check_output(output, overwrite=overwrite)
    found = calibrate_runs(runs)
    put_text(found.to_text(), output)
    before, after = found.measured["before"], found.measured["held_back"]
    complain(
        f"calibration error {before['ece']:.1%} before, {after['ece']:.1%} on records held back (n {after['n']}); "
        f"{after['coverage_at_5_percent_risk']:.0%} of them can be answered with 5% errors."
    )
