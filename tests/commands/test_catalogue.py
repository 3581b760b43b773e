import json

from rldebug import catalogue


def test_one_line_per_rule_when_piped(rldebug):
    said = rldebug("catalogue")
    assert said.status == 0
    header, *rows = said.out.splitlines()
    assert header.split() == ["code", "name", "component", "severity", "summary"]
    assert [row.split()[0] for row in rows] == [rule.code for rule in catalogue.rules()]


def test_only_one_component(rldebug):
    rows = rldebug("catalogue", "--component", "entropy").out.splitlines()[1:]
    assert rows
    assert all(row.startswith("ENT") for row in rows)


def test_json_is_pure_and_complete(rldebug):
    records = json.loads(rldebug("catalogue", "--json").out)
    assert [each["code"] for each in records] == [rule.code for rule in catalogue.rules()]
    collapse = next(each for each in records if each["code"] == "ENT001")
    assert {"name": "floor", "default": 0.05, "meaning": "share of the maximum entropy"} in collapse["thresholds"]


def test_an_unknown_component_names_the_nearest(rldebug):
    said = rldebug("catalogue", "--component", "entropie")
    assert said.status == 2
    assert "did you mean entropy" in said.err
