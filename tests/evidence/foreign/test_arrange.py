import math
from pathlib import Path

import numpy as np
import pytest

from rldebug.diagnose import diagnose
from rldebug.evidence.foreign import arrange
from rldebug.evidence.foreign.arrange import run_of
from rldebug.evidence.foreign.csv_file import read_csv
from rldebug.evidence.foreign.log import Column, Log
from rldebug.evidence.foreign.tensorboard import read_tensorboard
from rldebug.evidence.learning import learning
from rldebug.evidence.run import RunError
from tests.evidence.foreign.logs import cleanrl, progress_csv, tensorboard


def log_of(**columns):
    """Tags by name, a slash for each double underscore: values by step."""
    made = {
        name.replace("__", "/"): Column.of((step, math.nan, value) for step, value in cells.items())
        for name, cells in columns.items()
    }
    return Log("a TensorBoard log", Path("logs/one"), made, counts_env_steps=True)


def every(values, step=100):
    return {step * (i + 1): value for i, value in enumerate(values)}


def judged(run):
    report = diagnose([run])
    assert not report.broken
    return report


def codes(run):
    return {each.code for each in judged(run).findings}


def from_csv(folder, text):
    file = folder / "progress.csv"
    file.write_text(text, encoding="utf-8")
    return run_of(read_csv(file))


def test_names_and_signs_are_ours():
    run = run_of(
        log_of(
            train__entropy_loss=every([-0.6, -0.5]),
            train__explained_variance=every([0.25, 1.0]),
            losses__approx_kl=every([0.01, 0.02]),
        )
    )
    assert run["policy/entropy"].value.tolist() == [0.6, 0.5]
    assert run["value/residual_var"].value.tolist() == [0.75, 0.0]
    assert run["policy/kl"].value.tolist() == [0.01, 0.02]
    assert run["policy/kl"].env_step.tolist() == [100, 200]
    assert "policy/kl_given" not in run


def test_episodes_are_gathered_by_the_line_that_follows():
    episodes = Column.of([(10, 0.0, 4.0), (100, 0.0, 8.0), (150, 0.0, 1.0), (1290, 0.0, 7.0)])
    log = log_of(losses__value_loss=every([1.0] * 12))
    run = run_of(Log(log.kind, log.path, {**log.columns, "charts/episodic_return": episodes}, counts_env_steps=True))
    first, second, last = run.readings[0].numbers, run.readings[1].numbers, run.readings[-1]
    assert (first["episode/return_mean"], first["episode/return_std"], first["episode/count"]) == (6.0, 2.0, 2.0)
    assert (first["episode/return_min"], first["episode/return_max"]) == (4.0, 8.0)
    assert second["episode/count"] == 1.0
    assert "episode/count" not in run.readings[2].numbers
    assert (last.env_step, last.numbers["episode/return_mean"]) == (1290, 7.0)


def test_a_mean_of_episodes_is_none():
    run = run_of(log_of(rollout__ep_rew_mean=every(range(20))))
    assert run["episode/return_mean"].value.tolist() == list(range(20))
    assert "episode/count" not in run
    assert "episode/return_std" not in run


def test_episodes_alone_are_gathered_evenly():
    run = run_of(log_of(episodic_return=every(range(1000), step=7)))
    assert len(run.readings) == 200
    assert run["episode/count"].value.sum() == 1000
    assert learning(run).plateau > 800


def test_updates_are_those_that_were_logged_else_lines():
    told = run_of(log_of(train__n_updates={200: 10, 300: 20}, rollout__ep_rew_mean=every([1, 2, 3])))
    assert [each.update for each in told.readings] == [0, 10, 20]
    assert not any("lines of the log" in each for each in told.problems)
    counted = run_of(log_of(rollout__ep_rew_mean=every([1, 2, 3])))
    assert [each.update for each in counted.readings] == [1, 2, 3]
    assert "updates are counted in lines of the log" in counted.problems


def test_env_steps_are_those_that_were_logged_else_lines(tmp_path):
    assert from_csv(tmp_path, progress_csv(5)).env_steps == 5 * 2048
    run = from_csv(tmp_path, "train/value_loss\n3\n4\n5\n")
    assert run.env_steps == 3
    assert "no column counts env steps: lines of the log stand for them" in run.problems


def test_of_two_names_for_a_reading_the_better_one_is_taken():
    run = run_of(log_of(losses__qf1_loss=every([1.0]), losses__qf_loss=every([2.0]), eval__value_loss=every([3.0])))
    assert run["loss/value"].value.tolist() == [2.0]
    assert run.meta["log"]["unknown"] == ["eval/value_loss"]


def test_what_is_known_is_counted_and_the_rest_named(tmp_path):
    run = from_csv(tmp_path, progress_csv(5))
    assert run.problems[0] == "read from a CSV file: 12 of 13 columns are known; not train/clip_range"
    assert "`rldebug run`" in run.problems[1]


def test_a_log_of_which_nothing_is_known():
    with pytest.raises(RunError, match=r"none of its 1 tags is known \(accuracy\); expected names such as charts/"):
        run_of(log_of(accuracy=every([0.5])))
    with pytest.raises(RunError, match="nothing to judge: it tells only how fast"):
        run_of(log_of(charts__SPS=every([100.0])))


def test_more_lines_than_can_be_kept_are_taken_together_and_keep_what_is_not_finite(monkeypatch):
    monkeypatch.setattr(arrange, "_MOST", 10)
    values = [1.0] * 95 + [math.nan] * 5
    run = run_of(log_of(losses__value_loss=every(values)))
    assert len(run.readings) == 10
    assert np.isnan(run["loss/value"].last)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_found_in_a_healthy_log_of_cleanrl(tmp_path, seed):
    log = read_tensorboard(tensorboard(tmp_path, cleanrl(seed=seed), settings={"gamma": 0.99, "seed": 1}))
    run = run_of(log)
    report = judged(run)
    assert report.findings == ()
    assert {"ENT001", "EVA001", "POL002", "POL006", "POL011", "OPT310"} <= set(report.checked)
    assert (run.gamma, run.meta["seed"]) == (0.99, 1)
    assert learning(run).moved


def test_nothing_is_found_in_a_healthy_log_of_stable_baselines(tmp_path):
    run = from_csv(tmp_path, progress_csv(60))
    report = judged(run)
    assert report.findings == ()
    assert {"ENT001", "POL002", "POL006"} <= set(report.checked)
    assert "EVA001" in report.skipped


def test_rules_that_need_what_no_log_has_do_not_speak(tmp_path):
    """Whatever a log says, rules about batches, weights and gradients have nothing to go by."""
    wild = {name: list(np.random.default_rng(0).normal(0, 1e3, 120)) for name in ("value_loss", "entropy", "clipfrac")}
    report = judged(run_of(read_tensorboard(tensorboard(tmp_path, cleanrl(**wild)))))
    assert {"ADV001", "DIS003", "GRA003", "NET003", "OPT001", "VAL001", "BUF004", "ENV002"} <= set(report.skipped)


def test_entropy_that_collapses(tmp_path):
    entropy = [0.69, 0.5, 0.3, 0.1] + [0.001] * 116
    scalars = cleanrl(rises=False, entropy=entropy)
    assert "ENT001" in codes(run_of(read_tensorboard(tensorboard(tmp_path / "a", scalars))))
    shrinking = cleanrl(rises=False, entropy=[1.42 - 0.02 * i for i in range(120)])  # of a Gaussian
    assert not codes(run_of(read_tensorboard(tensorboard(tmp_path / "b", shrinking))))


def test_entropy_that_stays_at_its_maximum(tmp_path):
    scalars = cleanrl(450, rises=False, entropy=[0.6930] * 450)
    assert codes(run_of(read_tensorboard(tensorboard(tmp_path, scalars)))) == {"ENT002"}


def test_a_return_that_falls(tmp_path):
    scalars = [
        (tag, step, 9.0 + step % 2 if "episodic" in tag and step > 6000 else value) for tag, step, value in cleanrl()
    ]
    assert codes(run_of(read_tensorboard(tensorboard(tmp_path, scalars)))) == {"EVA001"}


def test_a_return_that_falls_where_values_are_learned_is_a_note(tmp_path):
    scalars = [
        (tag.replace("value_loss", "qf1_loss"), step, 9.0 + step % 2 if "episodic" in tag and step > 6000 else value)
        for tag, step, value in cleanrl()
    ]
    (found,) = judged(run_of(read_tensorboard(tensorboard(tmp_path, scalars)))).findings
    assert (found.code, found.severity) == ("EVA001", "note")


def test_a_loss_that_ends_in_nan(tmp_path):
    (found,) = judged(from_csv(tmp_path, progress_csv(value_loss=[40.0] * 50 + ["nan"] * 10))).findings
    assert (found.code, found.where.update, found.where.env_step) == ("POL011", 500, 51 * 2048)


def test_a_loss_that_is_not_always_computed(tmp_path):
    run = from_csv(tmp_path, progress_csv(value_loss=["nan", 40.0, "nan"] * 20))
    assert not codes(run)
    assert any("train/value_loss is not finite on 39 of 59 lines" in each for each in run.problems)


def test_a_divergence_that_is_far_too_large(tmp_path):
    assert codes(from_csv(tmp_path, progress_csv(approx_kl=[0.9] * 60, clip_fraction=[0.8] * 60))) == {
        "POL002",
        "POL006",
    }


def test_no_learning_rate_for_most_of_the_run(tmp_path):
    rate = [3e-4 * max(1 - i / 30, 0) for i in range(120)]
    assert codes(run_of(read_tensorboard(tensorboard(tmp_path, cleanrl(learning_rate=rate))))) == {"OPT310"}
