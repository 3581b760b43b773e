import json
import pstats
from pathlib import Path

import pytest

from rldebug.config import Config
from rldebug.evidence.timing import Measured
from rldebug.evidence.timings.reading import YARDSTICK
from rldebug.finding import Report
from rldebug.timed import as_told, judged, measured, write_files
from tests.rules.timings import on, timing

SAVES = """
    import torch

    def main(net):
        while True:
            act()  # act
            torch.save(net, "net.pt")  # save
"""


@pytest.fixture
def slow():
    return timing(SAVES, [on("save", 4.0, part="saving", before="update", after="step")])


def test_what_is_measured_is_kept_with_the_run(slow, tmp_path, monkeypatch):
    found = {"acting": Measured("acting", "one row", 1e-5, 2e-5, {"1": 1e-5})}
    given = []

    def measure_all(timing, seconds, problems):
        given.append((timing, seconds))
        problems.append("one could not be measured")
        return found

    monkeypatch.setattr("rldebug.yardstick.shelf.measure_all", measure_all)
    problems = []
    told = measured(slow, tmp_path, problems)
    assert told.yardstick == found
    assert told.slices == slow.slices
    assert given == [(slow, 3.0)]
    assert problems == ["one could not be measured"]
    assert json.loads((tmp_path / YARDSTICK).read_text())["acting"]["seconds"] == 1e-5


def test_only_rules_about_time_are_asked(slow):
    report = judged(slow, Config(), ["a problem"], {"the machine": "Traceback\nOSError: no"})
    assert report.command == "profile"
    assert {each.code[:4] for each in report.findings} == {"PRF9"}
    assert all(each.startswith("PRF9") for each in (*report.checked, *report.skipped))
    assert "PRF928" in [each.code for each in report.findings]
    assert "a problem" in report.problems
    assert report.broken == {"the machine": "Traceback\nOSError: no"}
    none = judged(slow, Config(ignore=("PRF928",)), [], {})
    assert "PRF928" not in [each.code for each in none.findings]


def test_the_largest_gain_comes_first(slow):
    findings = judged(slow, Config(), [], {}).findings
    gains = [each.speedup for each in findings]
    assert gains == sorted(gains, reverse=True)
    assert all(each >= 1.05 for each in gains)


def test_numbers_for_the_json_report(slow):
    told = json.loads(json.dumps(as_told(slow)))
    assert told["parts"] == {"simulator": 6.0, "saving": 4.0}
    assert (told["seconds"], told["env_steps"], told["updates"]) == (10.0, 10_000, 1_000)


def test_files_are_written_and_named_as_seen_from_here(slow, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "t.json"
    files = {"html": Path("p.html"), "speedscope": Path("p.json"), "trace": elsewhere, "prof": Path("p.prof")}
    said = []
    write_files(slow, Report(command="profile"), {name: each.absolute() for name, each in files.items()}, said.append)
    assert said == ["page: p.html", "speedscope: p.json", f"trace: {elsewhere}", "prof: p.prof"]
    assert json.loads(files["speedscope"].read_text())["profiles"]
    assert "traceEvents" in json.loads(elsewhere.read_text())
    assert pstats.Stats("p.prof").stats
    assert "<html" in files["html"].read_text(encoding="utf-8")


def test_nothing_is_written_that_was_not_asked_for(slow):
    said = []
    write_files(slow, Report(command="profile"), {}, said.append)
    assert said == []
    assert list(Path().iterdir()) == []
