import json
import subprocess
import sys

import numpy as np
import pytest

from rldebug import demo
from rldebug.exhibit import exhibited, shown, told


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return demo.watch("demo-broken", tmp_path_factory.mktemp("seen") / "runs", planted=True)


def test_what_is_told_comes_through_json_as_it_was(watched):
    report, seen = watched
    here = exhibited(report, seen)
    there = shown(seen.run, json.loads(json.dumps(told(report, seen))))
    assert there.report == here.report
    assert there.report.roots[0].code == "ADV003"
    assert there.known == here.known
    assert there.run.series.keys() == here.run.series.keys() > seen.run.series.keys()
    for name, series in here.run.series.items():
        assert np.array_equal(there.run[name].value, series.value, equal_nan=True)


def test_a_program_that_was_run_has_all_there_is_to_show(watched):
    report, seen = watched
    here = exhibited(report, seen)
    assert here.graph.startswith("<svg")
    assert here.trace["what"] == "V(s)"
    assert len(here.trace["value"]) == len(here.trace["reward"]) == len(here.trace["end"])
    assert here.settings["algorithm"] == "ppo"
    assert {each["name"] for each in here.settings["rows"]} >= {"gamma", "lr"}
    assert any("loss.backward()" in line for line in here.source[report.roots[0].where.file])


def test_the_page_of_a_finding_and_of_no_other_rule_is_told(watched):
    report, seen = watched
    known = exhibited(report, seen).known
    assert "What to try first" in known.rule("ADV003").page
    assert {code for code, each in known.rules.items() if each.page} == {each.code for each in report.findings}


def test_a_run_that_was_not_judged_is_shown_without(watched):
    _, seen = watched
    assert shown(seen.run, None).report is None


def test_who_only_shows_needs_no_torch():
    code = "import sys; from rldebug.exhibit import shown; from rldebug.render.sections.shelf import sections\n"
    done = subprocess.run([sys.executable, "-c", code + "sys.exit('torch' in sys.modules)"], check=False)
    assert done.returncode == 0
