"""Requests made by schemathesis from the service's own contract, half of them to it and half against it."""

import json
from collections import Counter
from itertools import product

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
UNDOCUMENTED = (500, 501, 502)


def contract_campaign(port: int, requests: int, *, seed: int) -> tuple[Counter[int], int]:
    """Sends about that many requests over all operations; returns the statuses, and answers against the contract.

    Each of those is printed.
    """
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    asking = [one for one in operations if one.method.upper() == "POST"]
    statuses: Counter[int] = Counter()
    bad = 0
    for operation in operations:
        if operation not in asking:
            strategy = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
            bad += _send_many(strategy, 20, seed=seed, statuses=statuses, mode=GenerationMode.POSITIVE)
    each = max(1, (requests - sum(statuses.values())) // (len(asking) * len(GenerationMode)))
    for operation, mode in product(asking, GenerationMode):
        strategy = operation.as_strategy(generation_mode=mode)
        bad += _send_many(strategy, each, seed=seed, statuses=statuses, mode=mode)
        print(json.dumps({"asked": operation.path, "mode": mode.value, "statuses": statuses}), flush=True)
    print(json.dumps({"from_the_contract": sum(statuses.values()), "statuses": dict(sorted(statuses.items()))}))
    return statuses, bad


def _send_many(strategy: object, count: int, *, seed: int, statuses: Counter[int], mode: GenerationMode) -> int:
    bad = 0

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)  # type: ignore[arg-type]
    def send(case: schemathesis.Case) -> None:
        nonlocal bad
        answer = case.call(timeout=60)
        statuses[answer.status_code] += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except Exception as error:  # noqa: BLE001 - counted and shown; the campaign goes on
            bad += 1
            _report(case, answer.status_code, mode, f"{type(error).__name__}: {error}"[:400])
        if answer.status_code in UNDOCUMENTED:
            _report(case, answer.status_code, mode, answer.text[:400])

    send()
    return bad


def _report(case: schemathesis.Case, status: int, mode: GenerationMode, why: str) -> None:
    row = {"bad": status, "mode": mode.value, "request": f"{case.method} {case.path}"}
    print(json.dumps(row | {"why": why, "curl": case.as_curl_command()[:600]}), flush=True)
