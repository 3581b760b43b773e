import json

from rldebug import catalogue


def test_one_line_per_metric_when_piped(rldebug):
    said = rldebug("metrics")
    assert said.status == 0
    rows = said.out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [metric.name for metric in catalogue.metrics()]
    assert "`pip install rldebug[gpu]`" in said.out  # brackets are text, not markup


def test_json_is_pure_and_complete(rldebug):
    records = json.loads(rldebug("metrics", "--json").out)
    assert [each["name"] for each in records] == [metric.name for metric in catalogue.metrics()]
    assert all(each["unit"] and each["summary"] for each in records)
