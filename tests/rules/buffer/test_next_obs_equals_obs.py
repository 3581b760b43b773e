from rldebug.evidence.run import Run
from rldebug.rules.buffer.next_obs_equals_obs import NextObsEqualsObs
from tests.judge import fires, not_enough, quiet


def run(stuck, duplicates=0.02, terminated=0.05, **more):
    copies, ends = [duplicates] * len(stuck), [terminated] * len(stuck)
    numbers = {"replay/stuck": stuck, "replay/duplicates": copies, "replay/terminated": ends}
    return Run.from_series(numbers | more)


def test_fires_when_next_observations_equal_observations():
    assert fires(NextObsEqualsObs(), run([1.0] * 20)).severity == "error"


def test_quiet_when_they_differ():
    quiet(NextObsEqualsObs(), run([0.0] * 20))


def test_quiet_when_the_agent_often_bumps_into_a_wall():
    quiet(NextObsEqualsObs(), run([0.7] * 20, duplicates=0.6))


def test_quiet_when_every_observation_is_the_same():
    quiet(NextObsEqualsObs(), run([1.0] * 20, duplicates=1.0))


def test_quiet_when_all_rows_are_terminal():
    quiet(NextObsEqualsObs(), run([1.0] * 20, terminated=1.0))


def test_declines_on_a_few_batches():
    not_enough(NextObsEqualsObs(), run([1.0] * 3))
