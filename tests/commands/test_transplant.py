import json
from pathlib import Path

import jsonschema
import pytest

from rldebug.render.json import schema
from tests.test_transplant import SOUND, written


def test_it_goes_away(rldebug):
    written("assert advantages[0] > 0")
    said = rldebug("transplant", "advantages.py:compute_gae", "gae", "--json", "r.json", "--", "train.py", "--lr", "1")
    assert said.status == 1, said.out + said.err
    assert "error[ADV110]" in said.out
    assert "✗ compute_gae is wrong: gae-sign-flipped" in said.out
    assert "train.py --lr 1" in said.out
    assert "ends with  status 1: AssertionError" in said.out
    assert "1, 1 of them answered otherwise" in said.out
    assert "→ the symptom goes away: the mistake is in compute_gae" in said.out
    assert "running it with the reference in place of compute_gae" in said.err
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    assert (report["command"], report["exit"], report["program"]["verdict"]) == ("transplant", 1, "gone")
    assert report["program"]["before"]["crash"] == "status 1: AssertionError"


def test_json_on_stdout_is_pure_and_a_sound_function_is_no_finding(rldebug):
    written("pass", SOUND)
    said = rldebug("transplant", "gae", "advantages.py:compute_gae", "--json", "-", "--", "train.py")
    assert said.status == 0
    report = json.loads(said.out)
    assert report["findings"] == []
    assert report["program"]["verdict"] == "none"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "what is to be replaced"),
        (["advantages.py:compute_gae", "gae"], "in which program?"),
        (["advantages.py:compute_gae", "gea", "--", "train.py"], "did you mean gae"),
        (["advantages.py:compute", "gae", "--", "train.py"], "did you mean compute_gae?"),
        (["advantages.py:compute_gae", "gae", "--probes", "a", "--first", "1", "--", "train.py"], "both given"),
        (["advantages.py:compute_gae", "gae", "--first", "1", "--", "train.py"], "expected --env-flag too"),
        (["advantages.py:compute_gae", "gae", "--", "nowhere.py"], "nowhere.py: no such file"),
        (["advantages.py:compute_gae", "gae", "--", "idle.py"], "the program never calls compute_gae"),
    ],
    ids=["nothing", "program", "component", "target", "both", "flag", "file", "idle"],
)
def test_it_could_not_run(rldebug, arguments, text):
    written("pass")
    Path("idle.py").write_text("", encoding="utf-8")
    said = rldebug("transplant", *arguments)
    assert said.status == 2
    assert text in said.err
