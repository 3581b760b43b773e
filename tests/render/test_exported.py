import json
import math

import pytest

from rldebug.evidence.run import Reading, Run, encode
from rldebug.finding import Finding, Report, Where
from rldebug.render.exported import (
    Arranger,
    Lines,
    diagnosis_text,
    names_for,
    read_findings,
    settings_of,
    settings_text,
)

FINDING = Finding(
    "NET003",
    "gradient-vanished",
    "network",
    "error",
    "the gradient of `actor_head` is <b>0</b>",
    "0 in 40 of 40 updates",
    "above 0",
    "look at `log_prob`",
    0.9,
    Where(file="train.py", line=7),
)


def moments(readings, **more):
    arranger = Arranger({"started": "2026-11-18T01:36:50+0000"}, **more)
    return [arranger(each) for each in readings]


def test_a_reading_is_there_under_its_name_and_under_the_one_that_is_looked_for():
    run = Run.from_series({"policy/entropy": [0.5], "value/residual_var": [0.25], "advantage/mean": [2.0]})
    (clean,), (sb3,) = moments(run.readings), moments(run.readings, convention="sb3")
    own = {"policy/entropy": 0.5, "value/residual_var": 0.25, "advantage/mean": 2.0}
    assert own.items() <= clean.numbers.items()
    assert own.items() <= sb3.numbers.items()
    assert clean.numbers["losses/entropy"] == 0.5
    assert clean.numbers["losses/explained_variance"] == 0.75
    assert sb3.numbers["train/entropy_loss"] == -0.5
    assert sb3.numbers["train/explained_variance"] == 0.75
    assert not any(each.startswith("losses/") for each in sb3.numbers)


def test_the_smoothed_twin_is_the_moving_average_of_the_series():
    values = [1.0, math.nan, 5.0, 2.0, math.inf, -3.0, 4.0]
    run = Run.from_series({"policy/kl": values})
    made = moments(run.readings)
    smooth = [each.numbers["smoothed/policy/kl"] for each in made if "smoothed/policy/kl" in each.numbers]
    assert smooth == pytest.approx(list(run["policy/kl"].ema().value), rel=1e-12)
    assert len(smooth) == 5
    assert math.isnan(made[1].numbers["policy/kl"])  # as it was read
    assert made[4].numbers["policy/kl"] == math.inf


def test_a_hash_is_not_smoothed():
    (made,) = moments(Run.from_series({"batch/fingerprint": [0.3], "batch/fingerprint@critic": [0.4]}).readings)
    assert set(made.numbers) == {"batch/fingerprint", "batch/fingerprint@critic"}


def test_step_and_time_are_those_of_the_reading():
    (made,) = moments([Reading(update=3, env_step=512, seconds=2.5, numbers={})])
    assert (made.step, made.update, made.wall) == (512, 3, 1794965810.0 + 2.5)


def test_a_histogram_that_cannot_be_drawn_is_left_out():
    histograms = {
        "histogram/value": [-1.0, 1.0, 3.0, 0.0, 2.0, 1.0],
        "histogram/constant": [2.0, 2.0, 5.0, 0.0],
        "histogram/broken": [math.nan, 1.0, 3.0],
        "histogram/short": [0.0, 1.0],
        "histogram/reversed": [1.0, 0.0, 3.0],
    }
    (made,) = moments([Reading(0, 0, 0.0, {}, histograms=histograms)])
    assert set(made.histograms) == {"histogram/value", "histogram/constant"}
    value = made.histograms["histogram/value"]
    assert value.counts == (3.0, 0.0, 2.0, 1.0)
    assert value.edges == [-1.0, -0.5, 0.0, 0.5, 1.0]


def test_lines_come_once_and_only_when_they_are_whole(tmp_path):
    lines = Lines(tmp_path)
    assert list(lines.new()) == []  # there is no file yet
    first, second, third = (encode(Reading(i, i, float(i), {"a/b": i})) for i in range(3))
    with (tmp_path / "readings.jsonl").open("w", encoding="utf-8", buffering=1) as file:
        file.write(first + "\n" + second[:20])
        file.flush()
        assert [each.update for each in lines.new()] == [0]
        assert list(lines.new()) == []
        file.write(second[20:] + "\nrubbish\n\n" + third)
        file.flush()
        assert [each.update for each in lines.new()] == [1]
        assert lines.left_out == 1
        assert [each.update for each in lines.rest()] == [2]
        assert list(lines.rest()) == []
    assert lines.left_out == 1


def test_the_diagnosis_in_words():
    text = diagnosis_text(Report("report", (FINDING,)))
    assert text.startswith("**Suspects:** network (")
    assert "### error NET003 gradient-vanished" in text
    assert r"the gradient of \`actor\_head\` is \<b\>0\</b\>" in text
    assert "- **seen:** 0 in 40 of 40 updates\n- **expected:** above 0\n- **help:**" in text
    assert "train.py:7" in text
    assert diagnosis_text(Report("report")) == "Nothing wrong was found."
    assert "rldebug report" in diagnosis_text(None)


def test_findings_are_read_back_ranked_and_each_once(tmp_path):
    assert read_findings(tmp_path) is None
    mild = Finding(**{**vars(FINDING), "code": "NET001", "severity": "note"})
    lines = [json.dumps(each.to_dict()) for each in (mild, FINDING, FINDING)]
    (tmp_path / "findings.jsonl").write_text("\n".join([*lines, "[]", '{"code": "cut']), encoding="utf-8")
    assert read_findings(tmp_path).findings == (FINDING, mild)


def test_settings_are_flat():
    meta = {"format": 1, "seed": 1, "env": {"id": "A|B", "limit": None}, "command": ["python", "a.py"], "git": None}
    settings = settings_of(meta)
    assert settings == {"seed": "1", "env.id": "A|B", "command": "python a.py"}
    assert r"| env.id | A\|B |" in settings_text(settings)


def test_two_tags_are_never_called_the_same():
    name = names_for(lambda tag: tag.replace("@", "_"))
    assert [name(each) for each in ("a@b", "a_b", "a@b", "c")] == ["a_b", "a_b_2", "a_b", "c"]
