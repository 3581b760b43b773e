from rldebug.evidence.run import Run
from rldebug.rules.normalisation.obs_constant import ObsConstant
from tests.judge import fires, not_enough, quiet


def run(still, short=9.0, long=70.0, **more):
    numbers = {
        "obs/still": still,
        "episode/length_min": [short] * len(still),
        "episode/length_max": [long] * len(still),
        "rollout/terminated": [0.05] * len(still),
    }
    return Run.from_series(numbers | more)


def test_fires_when_nothing_moves_though_episodes_end_at_different_steps():
    assert fires(ObsConstant(), run([1.0] * 5)).severity == "warning"


def test_fires_as_a_note_when_a_task_of_fixed_length_shows_nothing():
    assert fires(ObsConstant(), run([1.0] * 5, short=20.0, long=20.0)).severity == "note"


def test_fires_as_a_note_when_episodes_are_not_seen():
    assert fires(ObsConstant(), Run.from_series({"obs/still": [1.0] * 5})).severity == "note"


def test_quiet_when_the_observation_moves():
    quiet(ObsConstant(), run([0.0] * 5))


def test_quiet_when_it_stands_still_most_of_the_time():
    quiet(ObsConstant(), run([1.0, 0.98, 1.0, 0.99, 1.0]))


def test_quiet_when_it_is_a_bandit():
    quiet(ObsConstant(), run([1.0] * 5, short=1.0, long=1.0))


def test_quiet_when_every_row_is_terminal():
    quiet(ObsConstant(), Run.from_series({"obs/still": [1.0] * 5, "rollout/terminated": [1.0] * 5}))


def test_declines_on_one_rollout():
    not_enough(ObsConstant(), run([1.0]))


def test_declines_on_a_few_short_rollouts():
    not_enough(ObsConstant(), run([1.0] * 5, **{"rollout/steps": [16.0] * 5}))
