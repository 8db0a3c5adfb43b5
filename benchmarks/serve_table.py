"""The tables of `benchmarks.serve_load`, from what its modes found."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

Found = dict[str, Any]
AGAINST_ALONE = {
    "same": "the same photograph among four clients and alone",
    "again": "one photograph again and again, four clients to one",
}


def table(found: dict[str, Found]) -> Iterator[str]:
    """What every mode found, a line for each figure."""
    yield "| mode | what | measured |"
    yield "|---|---|---|"
    ready = [one["ready"] for one in found.values()]
    yield f"| | ready, from the start of the process | {between(ready, '.1f')} s |"
    for mode, one in found.items():
        for what, measured in ROWS[mode](one):
            yield f"| `{mode}` | {what} | {measured} |"
    ended = Counter(one["exit"] for one in found.values())
    yield f"| | services that ended with 0 | {ended[0]} of {ended.total()} |"


def between(values: Iterable[float], form: str) -> str:
    """The least and the largest, or the one that both are."""
    found = list(values)
    low, high = f"{min(found):{form}}", f"{max(found):{form}}"
    return low if low == high else f"{low} to {high}"


def throughput_rows(one: Found) -> Iterator[tuple[str, str]]:
    """Rates as shares of `predict_many`'s in the same turn, and processor time."""
    turns = one["turns"]
    rates = between((turn["predict_many"] for turn in turns), ".0f")
    yield f"images per second of `predict_many` (n {one['n']}, {len(turns)} turns)", rates
    for clients in sorted({turn["clients"] for turn in turns}):
        shares = (turn["rate"] / turn["predict_many"] for turn in turns if turn["clients"] == clients)
        yield f"of {clients} clients, as a share of it", between(shares, ".2f")
    for what in turns[0]["cpu_ms"]:
        title = f"`{what}`" if what == "predict_many" else f"the {what}"
        yield f"processor time of an image: {title}", f"{between((t['cpu_ms'][what] for t in turns), '.2f')} ms"


def latency_rows(one: Found) -> Iterator[tuple[str, str]]:
    """Quantiles of a client alone and among others, and how they compare."""
    for clients, title in (("1", "one client alone"), ("4", "four clients")):
        row = one[clients]
        yield f"{title}: median, p99 (n {row['n']:,})", f"{1000 * row['50%']:.1f} ms, {1000 * row['99%']:.0f} ms"
    yield "p99 of four clients to that of one", f"{one['4']['99%'] / one['1']['99%']:.1f} times"
    for name, title in AGAINST_ALONE.items():
        row = one[name]
        times = ", ".join(f"{row[share]:.1f}" for share in ("50%", "90%", "99%"))
        yield f"{title}: median, 90%, p99 (n {row['n']:,})", f"{times} times"


def memory_rows(one: Found) -> Iterator[tuple[str, str]]:
    """What the process held on its way through the requests."""
    some = [one["resident_mb"][tenth] for tenth in (0, 2, 5, 7, 9)]
    counts = ", ".join(f"{requests:,}" for requests, _ in some)
    yield f"resident after {counts} requests", f"{', '.join(f'{mb:.0f}' for _, mb in some)} MB"
    yield "answered with 200", f"{counted(one['statuses'], 200):,} of {sum(one['statuses'].values()):,}"


def overload_rows(one: Found) -> Iterator[tuple[str, str]]:
    """What became of more requests than the queue has room for, and of those after them."""
    answered, refused = (counted(one["statuses"], status) for status in (200, 429))
    other = sum(one["statuses"].values()) - answered - refused
    what = f"{one['clients']} clients and a queue of {one['queue']}, {one['seconds']:.0f} s"
    yield (
        f"{what}: answered, refused with 429, otherwise, lost",
        f"{answered:,}, {refused:,}, {other:,}, {one['broken']:,}",
    )
    sent = sum(one["after"].values()) + one["after_broken"]
    yield "requests after it that were answered", f"{counted(one['after'], 200)} of {sent}"


ROWS = {
    "throughput": throughput_rows,
    "latency": latency_rows,
    "memory": memory_rows,
    "overload": overload_rows,
}


def counted(statuses: dict[str, int], status: int) -> int:
    """How many answers had this status; JSON has numbers as text."""
    return statuses.get(str(status), 0)


def hostile_table(sent: list[Found]) -> Iterator[str]:
    """What became of all hostile requests, and of the services that had them."""
    fired, made, dawdled, after = (total(one[part] for one in sent) for part in PARTS)
    both = total([fired, made])
    groups = {
        "answered with 200": [200],
        "refused (400 to 499)": range(400, 500),
        "503 or 504": [503, 504],
        "500, 501 or 502": [500, 501, 502],
        "closed without an answer": [0],
        "whole, and without an answer for a minute": [-1],
    }
    rows = {
        f"requests to {len(sent)} services": sum(both.values()),
        "of them made from the contract": sum(made.values()),
        **{title: sum(counted(both, status) for status in statuses) for title, statuses in groups.items()},
        "answers that the contract does not have": sum(one["against_contract"] for one in sent),
    }
    yield "| what | how many |"
    yield "|---|---:|"
    for what, n in rows.items():
        yield f"| {what} | {n:,} |"
    yield f"| clients that sent a byte a second and got 408 | {share(dawdled, 408)} |"
    yield f"| good requests after them that were answered | {share(after, 200)} |"
    lived = sum(one["alive"] and one["exit"] == 0 for one in sent)
    yield f"| services that lived and ended with 0 | {lived} of {len(sent)} |"


PARTS = ("statuses", "contract", "dawdlers", "after")


def total(counts: Iterable[dict[str, int]]) -> Counter[str]:
    """The sum of all."""
    return sum((Counter(one) for one in counts), Counter())


def share(statuses: dict[str, int], status: int) -> str:
    """How many of all had this status."""
    return f"{counted(statuses, status):,} of {sum(statuses.values()):,}"
