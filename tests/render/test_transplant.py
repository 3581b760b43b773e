from __future__ import annotations

import io

import pytest

from rldebug.evidence.transplant import Seen, Transplant
from rldebug.evidence.verification import Verification
from rldebug.render.transplant import print_transplant

RIGHT = Verification("gae", "ppo.py:compute_gae", "right", cases=80)
WRONG = Verification("gae", "ppo.py:compute_gae", "wrong", matched=("gae-sign-flipped",))
ODD = Verification("gae", "ppo.py:compute_gae", "wrong", message="it differs from the reference")
COUNTED = {"counted": 1200}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")  # lines are looked for whole


def said(found, before, after, verdict, **more):
    text = io.StringIO()
    print_transplant(Transplant(found, ("train.py", "--seed", "1"), before, after, verdict, **more), file=text)
    return text.getvalue()


def test_before_and_after_side_by_side():
    before = Seen(rungs={"action-reward": "failed", "constant-reward": "passed"}, calls=COUNTED)
    after = Seen(rungs={"action-reward": "passed"}, calls={"same": 100, "different": 1100})
    assert said(WRONG, before, after, "gone").splitlines()[1:] == [
        "✗ compute_gae is wrong: gae-sign-flipped",
        "train.py --seed 1",
        "                       as it is  with the reference",
        "  probe action-reward  ✗ failed  ✓ passed",
        "  calls                1 200     1 200, 1 100 of them answered otherwise",
        "→ the symptom goes away: the mistake is in compute_gae",
    ]


def test_findings_crashes_and_returns():
    before = Seen(findings=("a", "b"), returns=(1.0,) * 100, calls=COUNTED)
    after = Seen(findings=("b", "c"), crash="status 1: KeyError", returns=(2.0,), calls={"raised": 3}, stopped=True)
    text = said(ODD, before, after, "unclear", new=("finding c", "crash"))
    assert "finding a    there" in text
    assert "gone" in text
    assert "ends with    status 0" in text
    assert "3, 0 of them answered otherwise, 3 where it raised" in text
    assert "1 in the last 20 of 100 episodes" in text
    assert "something new: finding c, crash" in text
    assert "what its arguments mean is a guess" in text
    assert "--timeout gives it more" in text
    assert "no telling" in text


def test_a_sound_function():
    text = said(RIGHT, Seen(calls=COUNTED), Seen(calls={"same": 1200}), "none")
    assert "✓ compute_gae is right, on 80 cases" in text
    assert "the reference gives the same answers" in text
    assert "there was no symptom to begin with: no finding, no crash" in text
    text = said(RIGHT, Seen(calls=COUNTED), Seen(calls={"different": 1}), "unclear")
    assert "yet the reference gives other answers here" in text


def test_where_no_probe_failed_there_is_no_second_run():
    text = said(WRONG, Seen(rungs={"p": "passed"}, calls=COUNTED), None, "none")
    assert "probe p  ✓ passed" in text
    assert "there was no symptom to begin with: no probe failed" in text


def test_one_that_does_not_show():
    text = said(WRONG, Seen(crash="status 1", calls=COUNTED), Seen(crash="status 1", calls={"same": 5}), "stays")
    assert "what is wrong with it does not show here" in text
    assert "look elsewhere" in text
