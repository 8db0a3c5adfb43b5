"""NaN is not JSON."""

import json

from viewvote.report.formats.strict_json import strict_json


def test_what_cannot_be_measured_is_null_at_any_depth():
    text = strict_json({"a": float("nan"), "b": [1, (float("inf"), 0.5)], "c": {"d": -float("inf"), "e": "NaN é"}})
    assert json.loads(text, parse_constant=None) == {"a": None, "b": [1, [None, 0.5]], "c": {"d": None, "e": "NaN é"}}
    assert "é" in text
    assert text.endswith("}\n")
