from rldebug.evidence.run import Run
from rldebug.rules.buffer.replay_duplicates import ReplayDuplicates
from tests.judge import fires, not_enough, quiet


def run(duplicates, shared=0.0, fingerprint=None, readings=40):
    numbers = {
        "replay/duplicates": [duplicates] * readings,
        "replay/shared_entries": [shared] * readings,
        "replay/fingerprint": fingerprint or [0.5 + i for i in range(readings)],
        "batch/rows": [32.0] * readings,
    }
    return Run.from_series(numbers)


def test_fires_when_a_batch_of_continuous_rows_repeats_itself():
    assert "75%" in fires(ReplayDuplicates(), run(0.75)).seen


def test_fires_when_one_array_was_overwritten_in_place():
    fires(ReplayDuplicates(), run(1.0, shared=0.0))


def test_quiet_when_rows_are_rarely_drawn_twice():
    quiet(ReplayDuplicates(), run(0.03))


def test_quiet_when_the_states_are_finite():
    quiet(ReplayDuplicates(), run(0.75, shared=0.4))


def test_quiet_when_all_observations_of_the_task_are_the_same():
    quiet(ReplayDuplicates(), run(1.0, fingerprint=[3.5] * 40))


def test_declines_while_the_buffer_holds_little_more_than_a_batch():
    not_enough(ReplayDuplicates(), run(0.75, readings=6))
