import json
from pathlib import Path

import jsonschema
import pytest

from rldebug.finding import Finding, Report, Where
from rldebug.render.json import schema, write_json


def test_the_contract_ships_with_the_package():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    "report",
    [
        Report("report"),
        Report("report", program={"gamma": 0.99}, exit=None),
        Report(
            "report",
            (
                Finding("ADV003", "flip", "advantage", "error", "m", "s", "e", "h", 0.99, Where("a.py", 1, 2, 3, "t")),
                Finding("ENT001", "fall", "entropy", "warning", "m", "s", "e", "h", 0.5, follows=("ADV003",)),
            ),
            checked=("ADV003", "ENT001"),
            skipped={"TGT001": "no target network"},
            broken={"OPT001": "Traceback"},
            exit=1,
        ),
    ],
)
def test_every_report_follows_it(report):
    write_json(report, "out.json")
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    jsonschema.validate(written, schema(), cls=jsonschema.Draft202012Validator)
    assert written == report.to_dict()


def test_the_schema_is_the_shared_one():
    """Others parse this; a change of the contract is a change of `format`."""
    contract = schema()
    assert contract["properties"]["format"] == {"const": 1}
    assert set(contract["required"]) == {
        "format", "command", "exit", "suspects", "findings", "checked", "skipped", "broken"
    }  # fmt: skip
