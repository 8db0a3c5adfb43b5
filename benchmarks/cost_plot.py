"""Cost against accuracy of the embedded model: fixed numbers of views, adaptive and exact stopping, the reference."""

import statistics
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import KEPT_MEMORY, REFERENCE, STOPPING, costs_of, precision_of, seconds_of

COLOURS = {"fp32": "#4c72b0", "int8": "#dd8452", "reference": "#555555"}
STOPS = (
    ("fp32, exact stop", "s", ": fp32's answers"),
    ("int8, ZERO, strict", "v", ""),
    ("int8, ZERO, noise", "^", ""),
    ("int8, anchored, strict", "P", ""),
    ("int8, default", "*", ": anchored, noise"),
)


def draw_plot(results: dict[str, Any], path: Path) -> None:
    """Write the plot as SVG; one panel per set of photographs."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "viewvote"  # the same figures give the same file
    from matplotlib import pyplot as plt

    sets = list(dict.fromkeys(row["set"] for row in results["quality"]))
    figure, panels = plt.subplots(1, len(sets), figsize=(5.2 * len(sets), 3.8), squeeze=False, layout="constrained")
    for panel, name in zip(panels[0], sets, strict=True):
        rows = {row["mode"]: row for row in results["quality"] if row["set"] == name}
        for precision in ("fp32", "int8"):
            fixed = costs_of(results["pocket"]["single"], precision)
            fewer = {int(n): value for n, value in rows[precision]["fewer"].items()}  # JSON's keys are strings
            budgets = sorted(fixed.keys() & fewer)
            costs = [statistics.median(run[2] for run in fixed[n]) for n in budgets]
            panel.plot(costs, [fewer[n] for n in budgets], "o-", ms=4, color=COLOURS[precision], label=precision)
            for n, cost in zip(budgets, costs, strict=True):
                panel.annotate(str(n), (cost, fewer[n]), xytext=(0, 5), textcoords="offset points", fontsize=7)
        for mode, marker, label in STOPS:
            if mode not in rows:  # results of an earlier run
                continue
            # Exact stopping is measured on fewer photos, and proved to give the answers of all views.
            accuracy = rows[STOPPING[mode] if mode.endswith("exact stop") else mode]["accuracy"]
            cost = np.median([run[2] for run in seconds_of(results, "pocket", mode, photos=name)])
            colour = COLOURS[precision_of(mode)]
            panel.plot(cost, accuracy, marker, ms=10, color=colour, mec="black", label=f"{mode}{label}")
        # Its accuracy is that of fp32 but for other crops, on too few photos to place a dot.
        for reference, style in ((REFERENCE, "--"), (KEPT_MEMORY, ":")):
            runs = seconds_of(results, "pocket", reference, photos=name)
            if runs:
                cost = np.median([run[2] for run in runs])
                panel.axvline(cost, ls=style, color=COLOURS["reference"], label=f"{reference}: cost")
        panel.set(xscale="log", title=f"{name} (n = {rows['fp32']['n']})", xlabel="seconds per photo (log)")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    panels[0][0].set_ylabel("top-1 accuracy, %")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
