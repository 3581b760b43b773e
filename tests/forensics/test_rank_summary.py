"""What ranks left in their folders, brought together: also where one was killed, cut off or left nothing."""

import json
import socket

import numpy as np
import pytest

from rldebug.evidence.crash import Crash
from rldebug.evidence.script import read_script
from rldebug.forensics.rank_summary import _line, with_ranks

GONE = 2**22 + 1  # no process has this number


def rank(root, number, world=3, state="finished", **meta):
    folder = root / ("train" if number == 0 else f"train-rank{number}")
    folder.mkdir()
    about = {
        "rank": number, "world": world, "job": "here 1 - 0", "started": "2026-01-02T12:00:00+0000", "state": state,
        "host": socket.gethostname(), "pid": GONE, **meta,
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(about))
    lines = [
        {"thing": "counts", "key": "all", "updates": 40, "env_steps": 100},
        {"thing": "rank", "key": "own", "rank": number, "world": world, "calls": 80, "phases": [0, 16, 32]},
        {"kind": "rank_step", "optimizer": "optimizer", "step": 1, "update": 1, "weights": [[1.0]]},
    ]
    (folder / "script.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return folder


def together(folder):
    return with_ranks(folder, read_script(folder))


def test_every_rank_has_its_note_and_the_first_too(tmp_path):
    for number in (0, 1, 2):
        rank(tmp_path, number)
    script, problems, crashes = together(tmp_path / "train")
    notes = script.noted("child")
    assert [(each["rank"], each["world"], each["updates"], each["state"]) for each in notes] == [
        (0, 3, 40, "finished"), (1, 3, 40, "finished"), (2, 3, 40, "finished"),
    ]  # fmt: skip
    assert notes[2]["sampled"]["optimizer@1"]["weights"] == [[1.0]]
    assert notes[0]["phases"] == [0, 16, 32]
    assert problems == ["one job of 3 ranks: this is of rank 0; 0, 1, 2 were compared"]
    assert crashes == ()


def test_what_is_missing_killed_cut_off_or_failed_is_said(tmp_path):
    rank(tmp_path, 0, world=5)
    rank(tmp_path, 1, world=5, state="running")
    failed = Crash("ValueError", "too large").to_dict()
    rank(tmp_path, 2, world=5, state="crashed", error="ValueError: too large", crash=failed)
    cut = rank(tmp_path, 4, world=5) / "script.jsonl"
    cut.write_bytes(cut.read_bytes()[:-9])
    script, problems, crashes = together(tmp_path / "train")
    assert problems[1:] == [
        "rank 1 was killed, or its machine went down, after about 40 updates",
        "rank 2 failed: ValueError: too large",
        "rank 4: script.jsonl line 3 was left out: the last line was cut off in writing",
        "rank 3 of 5 left no folder beside this one: what was done there is not in this report",
    ]
    assert [each["state"] for each in script.noted("child")] == ["finished", "lost", "crashed", "finished"]
    assert [each.type for each in crashes] == ["ValueError"]


def test_a_rank_without_a_record(tmp_path):
    rank(tmp_path, 0, world=2)
    (rank(tmp_path, 1, world=2) / "script.jsonl").unlink()
    _, problems, _ = together(tmp_path / "train")
    assert problems[1:] == ["rank 1 recorded nothing in train-rank1"]


def test_a_process_by_itself_is_left_as_it_is(tmp_path):
    folder = rank(tmp_path, 0, world=1)
    script = read_script(folder)
    assert with_ranks(folder, script) == (script, [], ())


def test_a_line_is_laid_through_most_rows():
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(64, 3))
    entered = obs * [2.0, 1.0, 1.0] + [0.5, 0.0, 0.0]
    entered[:5] = 7.0  # rows that entered otherwise
    entered[:, 2] = np.abs(obs[:, 2])  # no line
    slope, shift, spread = _line(obs, entered)
    assert slope[:2] == pytest.approx([2.0, 1.0])
    assert shift[:2] == pytest.approx([0.5, 0.0])
    assert np.isnan(slope[2])
    assert spread == pytest.approx(obs.std(axis=0))
    assert np.isnan(_line(obs[:5], entered[:5])[0]).all()
