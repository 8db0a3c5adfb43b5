"""The contract: its examples work as they stand, and requests made from it are never answered otherwise."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from viewvote.server.options import Options
from viewvote.server.refusals import CODES

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def contract(client):
    return client.get("/openapi.json").json


def test_every_example_is_answered(client, contract):
    tried = []
    for path, methods in contract["paths"].items():
        for operation in methods.values():
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if "example" in content:
                    address = path.replace("{model_id}", "toy")
                    answer = client.post_json(address, content["example"], {"Content-Type": kind})
                    assert answer.status == 200, (path, answer.body)
                    tried.append(path)
    assert sorted(tried) == ["/", "/models/{model_id}", "/v1/classify", "/v1/classify/stream", "/v1/explain"]


def test_every_route_documents_every_error(contract):
    for methods in contract["paths"].values():
        for operation in methods.values():
            assert {str(status) for status in CODES.values()} - {"499"} <= set(operation["responses"])


def test_every_option_is_a_member_a_field_and_a_parameter(contract):
    operation = contract["paths"]["/v1/classify"]["post"]
    content = operation["requestBody"]["content"]
    options = set(Options.model_fields)
    assert set(content["application/json"]["schema"]["properties"]) == options | {"images"}
    assert set(content["multipart/form-data"]["schema"]["properties"]) == options | {"image"}
    assert {parameter["name"] for parameter in operation["parameters"]} == options


def test_the_contract_needs_no_other_site(client):
    assert "http" not in client.get("/openapi.json").body.decode().replace("http://127.0.0.1", "")


def test_requests_made_from_the_contract_get_documented_answers(client):
    schema = schemathesis.openapi.from_url(f"{client.url}/openapi.json")
    for operation in schema.get_all_operations():

        @settings(
            max_examples=15, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.ok().as_strategy())
        def send(case):
            answer = case.call(timeout=30)
            case.validate_response(answer, checks=CHECKS)
            assert answer.status_code < 500 or answer.status_code == 504  # it may ask for too little time

        send()
    assert client.get("/health/ready").status == 200
    assert client.service.engine.admitted == 0
