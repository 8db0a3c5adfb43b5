"""The tables of docs/results/service.md, from what made-up modes found."""

from benchmarks.serve_client import Tally
from benchmarks.serve_table import hostile_table, table
from tests.benchmarks.test_bulk_tables import rows_of
from tests.benchmarks.test_sections import of_the_page

ENDED = {"ready": 0.52, "exit": 0}
CPU = {"predict_many": 9.61, "service": 10.0, "clients": 0.15}
THROUGHPUT = {
    "n": 200,
    "turns": [
        {"clients": 16, "rate": 96.0, "predict_many": 100.0, "cpu_ms": CPU},
        {"clients": 64, "rate": 99.0, "predict_many": 110.0, "cpu_ms": CPU | {"service": 11.0}},
        {"clients": 16, "rate": 50.0, "predict_many": 50.0, "cpu_ms": CPU},
    ],
}
LATENCY = {
    "1": {"n": 400, "50%": 0.0052, "90%": 0.01, "99%": 0.072},
    "4": {"n": 400, "50%": 0.0169, "90%": 0.05, "99%": 0.163},
    "same": {"n": 400, "50%": 2.7, "90%": 3.0, "99%": 4.6},
    "again": {"n": 1842, "50%": 2.6, "90%": 2.9, "99%": 3.4},
}
MEMORY = {"resident_mb": [[2000 * i, 300.0 + i] for i in range(1, 11)], "statuses": {"200": 19_999, "503": 1}}
OVERLOAD = {
    "clients": 320,
    "queue": 32,
    "seconds": 20.0,
    "statuses": {"200": 579, "429": 16445},
    "broken": 0,
    "after": {"200": 50},
    "after_broken": 0,
}
FOUND = {"throughput": THROUGHPUT, "latency": LATENCY, "memory": MEMORY, "overload": OVERLOAD}


def test_every_mode_has_its_lines():
    made = list(table({mode: one | ENDED for mode, one in FOUND.items()} | {"memory": MEMORY | ENDED | {"ready": 0.9}}))
    assert made[2:] == [
        "| | ready, from the start of the process | 0.5 to 0.9 s |",
        "| `throughput` | images per second of `predict_many` (n 200, 3 turns) | 50 to 110 |",
        "| `throughput` | of 16 clients, as a share of it | 0.96 to 1.00 |",
        "| `throughput` | of 64 clients, as a share of it | 0.90 |",
        "| `throughput` | processor time of an image: `predict_many` | 9.61 ms |",
        "| `throughput` | processor time of an image: the service | 10.00 to 11.00 ms |",
        "| `throughput` | processor time of an image: the clients | 0.15 ms |",
        "| `latency` | one client alone: median, p99 (n 400) | 5.2 ms, 72 ms |",
        "| `latency` | four clients: median, p99 (n 400) | 16.9 ms, 163 ms |",
        "| `latency` | p99 of four clients to that of one | 2.3 times |",
        "| `latency` | the same photograph among four clients and alone: median, 90%, p99 (n 400) "
        "| 2.7, 3.0, 4.6 times |",
        "| `latency` | one photograph again and again, four clients to one: median, 90%, p99 (n 1,842) "
        "| 2.6, 2.9, 3.4 times |",
        "| `memory` | resident after 2,000, 6,000, 12,000, 16,000, 20,000 requests | 301, 303, 306, 308, 310 MB |",
        "| `memory` | answered with 200 | 19,999 of 20,000 |",
        "| `overload` | 320 clients and a queue of 32, 20 s: answered, refused with 429, otherwise, lost "
        "| 579, 16,445, 0, 0 |",
        "| `overload` | requests after it that were answered | 50 of 50 |",
        "| | services that ended with 0 | 4 of 4 |",
    ]
    assert made[:2] == rows_of(of_the_page("benchmarks.serve_load"))[:2]


def test_hostile_requests_are_summed_over_the_services():
    one = {
        "statuses": {"200": 4, "422": 3, "404": 1, "504": 1, "0": 1},
        "dawdlers": {"408": 50},
        "contract": {"200": 1, "422": 1},
        "against_contract": 0,
        "alive": True,
        "exit": 0,
        "after": {"200": 8},
    }
    worse = one | {"statuses": {"500": 1, "-1": 1}, "against_contract": 1, "exit": 1, "dawdlers": {"408": 49, "0": 1}}
    made = list(hostile_table([one, worse]))
    assert made[2:] == [
        "| requests to 2 services | 16 |",
        "| of them made from the contract | 4 |",
        "| answered with 200 | 6 |",
        "| refused (400 to 499) | 6 |",
        "| 503 or 504 | 1 |",
        "| 500, 501 or 502 | 1 |",
        "| closed without an answer | 1 |",
        "| whole, and without an answer for a minute | 1 |",
        "| answers that the contract does not have | 1 |",
        "| clients that sent a byte a second and got 408 | 99 of 100 |",
        "| good requests after them that were answered | 16 of 16 |",
        "| services that lived and ended with 0 | 1 of 2 |",
    ]
    assert made[:2] == rows_of(of_the_page("benchmarks.serve_load", "hostile"))[:2]


def test_a_request_is_compared_with_its_own_median_alone():
    alone = Tally(seconds=[1.0, 3.0, 2.0, 10.0], numbers=[0, 0, 0, 1])
    among = Tally(seconds=[4.0, 15.0], numbers=[0, 1])
    assert among.slower_than(alone).seconds == [2.0, 1.5]
    assert alone.quantile(0.5) == 3.0
    assert alone.quantile(0.99) == 10.0
