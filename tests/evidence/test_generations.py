import dataclasses
import json
import math

import numpy as np
import pytest

from rldebug import catalogue
from rldebug.capture.answers import Answers
from rldebug.diagnose import diagnose
from rldebug.evidence.generations import FILE, Generations, Pass, Round, plain, read_generations
from rldebug.recorded import recorded
from tests.rules.generations import found, passes, rounds, sound

CODES = [rule.code for rule in catalogue.rules() if rule.reads == "Generations"]


def test_what_is_written_is_read_again(tmp_path):
    answers = Answers(tmp_path)
    answers.settings({"num_generations": 2, "beta": 0.1}, ["_renamed"])
    assert answers.looks()
    answers.round(3, {"group": np.array([0, 0]), "reward": np.array([1.5, math.nan])}, {"drawn": True, "moved": 0.25})
    answers.passed(4, 1, {"push": np.array([math.inf, -1.0])}, {"loss": math.nan, "old": False})
    answers.step({"update": 4.0, "kl": math.nan})
    answers.close({"rewards": "Traceback\nValueError: no"})
    seen = read_generations(tmp_path)
    assert (seen.size, seen.answers, seen.unseen) == (2, 2, ("_renamed",))
    (first,), (one,) = seen.rounds, seen.passes
    assert (first.number, first.update, first.facts) == (1, 3, {"drawn": True, "moved": 0.25})
    assert first.column("group").dtype == np.int64
    assert first.column("reward")[0] == 1.5
    assert math.isnan(first.column("reward")[1])
    assert np.isnan(first.column("never")).tolist() == [True, True]
    assert (one.round, one.update, one.age, one.facts) == (1, 4, 1, {"loss": None, "old": False})
    assert one.columns["push"].tolist() == [math.inf, -1.0]
    assert np.isnan(one.column("push")).tolist() == [True, False]  # nobody counts with what is infinite
    assert math.isnan(seen.logged("kl")[0])
    assert [each for each in seen.problems if "ValueError: no" in each]
    assert [each for each in seen.problems if "_renamed" in each]


def test_there_are_none_in_most_runs(tmp_path):
    assert read_generations(tmp_path) is None


def test_lines_that_cannot_be_read_are_counted(tmp_path):
    good = {"kind": "round", "number": 1, "update": 0, "columns": {"reward": [1.0]}}
    uneven = {**good, "columns": {"reward": [1.0], "tokens": [1, 2]}}
    lines = [json.dumps(good), "{", json.dumps(uneven), json.dumps({"kind": "pass"}), "[]", json.dumps({"kind": "new"})]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    seen = read_generations(tmp_path)
    assert len(seen.rounds) == 1
    assert seen.problems == ("4 lines of generations.jsonl cannot be read and were left out",)


def test_a_newer_format_is_refused(tmp_path):
    (tmp_path / FILE).write_text('{"kind": "settings", "format": 9, "settings": {}}\n', encoding="utf-8")
    assert "format 9, expected 1" in read_generations(tmp_path).problems[0]


def test_a_run_folder_is_judged_with_them(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"format": 1, "state": "finished"}), encoding="utf-8")
    (tmp_path / "readings.jsonl").write_text("", encoding="utf-8")
    answers = Answers(tmp_path)
    answers.settings({"num_generations": 4}, [])
    for each in rounds(sound(), begins_twice=1).rounds:
        answers.looks()
        answers.round(each.update, each.columns, each.facts)
    answers.close()
    report = diagnose(recorded(tmp_path).evidences)
    assert [each.code for each in report.roots] == ["PRE510"]


def test_groups_are_whole_ones():
    one = Round(1, 0, {"group": np.array([0, 0, 1, 1, 1, 2])})
    assert [rows.tolist() for rows in one.groups(2)] == [[0, 1]]


def test_columns_go_over_all_rounds_and_fresh_passes():
    evidence = Generations(
        {},
        (Round(1, 0, {"tokens": np.array([1, 2])}), Round(2, 1, {"tokens": np.array([3])})),
        (Pass(1, 0, 0, {"push": np.array([1.0])}), Pass(1, 1, 1, {"push": np.array([2.0])})),
    )
    assert evidence.all("tokens").tolist() == [1, 2, 3]
    assert evidence.passed("push").tolist() == [1.0, 2.0]
    assert evidence.passed("push", fresh=True).tolist() == [1.0]


def test_numbers_are_plain_json():
    assert plain(np.array([True, False])) == [1, 0]
    assert plain(np.array([1.0, math.nan, -math.inf])) == [1.0, None, "-inf"]


# ── rules on answers that say little ──


@pytest.mark.parametrize("code", CODES)
def test_no_rule_stumbles_over_nothing(code):
    assert not found(code, Generations())
    assert not found(code, Generations({"num_generations": 4}, (Round(1, 0),), (Pass(1, 0, 0),)))


@pytest.mark.parametrize("value", [math.nan, 0.0, 1.0, math.inf, 1e30])
@pytest.mark.filterwarnings("error")
def test_no_rule_stumbles_over_one_number_for_everything(value):
    evidence = sound()
    named = {name: value for name in evidence.rounds[0].columns if name not in ("group", "prompt")}
    odd = passes(rounds(evidence, **named), **dict.fromkeys(evidence.passes[0].columns, value))
    for code in CODES:
        found(code, odd)


def test_no_rule_says_anything_of_a_sound_beginning():
    whole = sound()
    for length in range(len(whole.rounds) + 1):
        part = dataclasses.replace(whole, rounds=whole.rounds[:length], passes=whole.passes[:length])
        assert not [each.code for code in CODES for each in found(code, part)]
