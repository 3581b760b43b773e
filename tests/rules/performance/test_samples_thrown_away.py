from rldebug.evidence.run import Run
from rldebug.rules.performance.samples_thrown_away import SamplesThrownAway
from tests.judge import fires, not_enough, quiet


def run(rows, every=16, steps=64, readings=20):
    numbers = {"batch/rows": [rows] * readings, "pace/env_steps": [1000.0] * readings}
    return Run.from_series(numbers, every=every, env_steps_per_update=steps)


def test_fires_when_one_row_in_eight_is_learned_from():
    assert "0.12" in fires(SamplesThrownAway(), run(8.0)).seen


def test_quiet_when_every_row_is_used_once():
    quiet(SamplesThrownAway(), run(64.0))


def test_quiet_when_the_rows_of_resets_are_masked_out():
    quiet(SamplesThrownAway(), run(58.0))


def test_quiet_when_learning_from_a_data_set():
    quiet(SamplesThrownAway(), run(8.0, steps=0))


def test_quiet_when_replay_uses_each_sample_many_times():
    quiet(SamplesThrownAway(), run(64.0, steps=2))


def test_declines_on_a_short_run():
    not_enough(SamplesThrownAway(), run(8.0, every=1))
