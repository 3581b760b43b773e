import json

import numpy as np

from rldebug.config import Config
from rldebug.evidence.crash import crash_of
from rldebug.recorded import examine, recorded, untraced
from tests.rules.action_sampling.test_trained_action_not_executed import q_learning
from tests.watched import watched


def folder(path, *lines, **meta):
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"format": 1, "state": "finished", **meta}), encoding="utf-8")
    (path / "script.jsonl").write_text("\n".join(json.dumps(each) for each in lines), encoding="utf-8")
    return recorded(path)


def counts(**numbers):
    return {"thing": "counts", "key": "all", **numbers}


def test_a_program_that_took_no_step_is_empty(tmp_path):
    assert folder(tmp_path / "nothing", counts(updates=0, env_steps=0)).empty
    assert folder(tmp_path / "cut", {"kind": "seed", "value": 1}).empty
    assert not folder(tmp_path / "played", counts(updates=0, env_steps=5)).empty
    assert not folder(tmp_path / "learned", counts(updates=1, env_steps=0)).empty


def test_one_that_failed_or_left_the_work_to_others_is_not(tmp_path):
    process = {"kind": "thread", "what": "process", "does": "__main__.train"}
    spawned = folder(tmp_path / "spawned", counts(updates=0), process)
    assert not spawned.empty
    assert any("train" in each and "not watched" in each for each in spawned.problems)
    try:
        raise ValueError("no")
    except ValueError as error:
        crash = crash_of(error, env_steps=0, updates=0).to_dict()
    assert not folder(tmp_path / "failed", counts(updates=0), crash=crash).empty


def test_a_run_that_was_killed_says_so(tmp_path):
    seen = folder(tmp_path / "killed", counts(updates=3), state="running", pid=2**22 + 1)
    assert any("no end was recorded" in each for each in seen.problems)


def timing(**changes):
    """Of a program whose environment was stepped for a second."""
    return json.dumps(
        {
            **{"format": 1, "first": 0.0, "end": 1.0, "own": 0.0, "way": "timer", "interval": 0.002},
            **{"env_steps": 5, "updates": 0, "phases": 0, "windows": [], "environments": [], "moments": []},
            **{"happened": [], "broken": {}, "spots": [["/lib/python3/a.py", "f", 1, "", 1, 0, 0, ""]]},
            "stacks": [{"spots": [0], "inside": False, "ours": False, "rows": 0}],
            "threads": {"0": {"events": 5, "cells": [[0, "step", "step", 0, True, "", 1.0, 500]]}},
            **changes,
        }
    )


def test_a_run_that_was_timed_has_its_timing(tmp_path):
    assert folder(tmp_path / "none", counts(updates=0)).timing is None
    (tmp_path / "timed").mkdir()
    (tmp_path / "timed" / "timing.json").write_text(timing())
    (tmp_path / "timed" / "run.json").write_text('{"format": 1, "state": "finished"}')
    seen = recorded(tmp_path / "timed")
    assert seen.timing.env_steps == 5
    assert seen.timing in seen.evidences
    assert not seen.empty
    assert seen.problems == ()
    assert recorded(tmp_path / "timed", text=False).timing is None


def test_a_timing_that_says_nothing_or_cannot_be_read(tmp_path):
    (tmp_path / "timed").mkdir()
    (tmp_path / "timed" / "run.json").write_text('{"format": 1, "state": "finished"}')
    (tmp_path / "timed" / "timing.json").write_text(timing(threads={"0": {"events": 0, "cells": []}}))
    seen = recorded(tmp_path / "timed")
    assert seen.timing not in seen.evidences
    (tmp_path / "timed" / "timing.json").write_text(timing()[:-40])
    seen = recorded(tmp_path / "timed")
    assert seen.timing is None
    assert any("timing.json cannot be read" in each for each in seen.problems)


def test_observations_that_repeat_are_told():
    _, script = watched(q_learning)
    assert untraced(script) == ""
    for audit in script.audits:
        audit.nodes.alike[:] = 1
    assert "observations repeat" in untraced(script)
    for audit in script.audits:
        for term in audit.of("term"):
            term.arrays["rows"][:] = np.int64(-1)
    assert "could not be traced" in untraced(script)


def test_the_text_of_the_program_is_judged_too_and_remarks_about_it_are_left_out(tmp_path):
    text = "import torch\n\ndef sync(old):\n    old.load_state_dict(old.state_dict())\n    torch.load('net.pt')\n"
    folder(tmp_path / "run", counts(updates=5, env_steps=5))
    (tmp_path / "run" / "sources.jsonl").write_text(json.dumps({"file": "train.py", "text": text}), encoding="utf-8")
    report = examine(recorded(tmp_path / "run"), Config(), "report")
    told = [(each.code, each.where.line) for each in report.findings if each.where.file == "train.py"]
    assert told == [("TGT620", 4)]


def test_findings_stay_where_they_showed_if_the_text_cannot_be_followed(tmp_path, monkeypatch):
    folder(tmp_path / "run", counts(updates=1))
    text = "def sync(old):\n    old.load_state_dict(old.state_dict())\n"
    (tmp_path / "run" / "sources.jsonl").write_text(json.dumps({"file": "train.py", "text": text}), encoding="utf-8")

    def fails(*_):
        raise RecursionError("too deep")

    seen = recorded(tmp_path / "run")
    before = examine(seen, Config(), "report")
    monkeypatch.setattr("rldebug.recorded.placed", fails)
    report = examine(seen, Config(), "report")
    assert "TGT620" in {each.code for each in report.findings}
    assert report.findings == before.findings
    assert "places" not in before.broken
    assert "too deep" in report.broken["places"]
