import numpy as np

from rldebug.evidence.run import Reading, Run
from rldebug.rules.performance.throughput_decays import ThroughputDecays
from tests.judge import fires, not_enough, quiet


def run(seconds_per_update, env_steps_per_update=64):
    """One reading per update; the steps of the environment per update may change over the run."""
    costs = np.asarray(seconds_per_update, dtype=float)
    steps = np.cumsum(np.broadcast_to(env_steps_per_update, costs.shape))
    clock = np.cumsum(costs)
    numbers = {"pace/updates": 1.0, "pace/env_steps": 64.0}
    return Run.of(Reading(i, int(steps[i]), float(clock[i]), numbers) for i in range(len(costs)))


def test_fires_when_every_update_takes_longer_than_the_one_before():
    found = fires(ThroughputDecays(), run(np.linspace(0.01, 0.2, 100)))
    assert found.severity == "note"


def test_fires_as_a_warning_when_a_long_run_nearly_stands_still():
    assert fires(ThroughputDecays(), run(np.linspace(0.001, 3.0, 100) ** 2)).severity == "warning"


def test_quiet_when_the_pace_is_steady_but_noisy():
    costs = 0.1 * np.exp(0.5 * np.random.default_rng(0).normal(size=200))
    quiet(ThroughputDecays(), run(costs))


def test_quiet_when_episodes_get_longer_and_each_makes_one_update():
    length = np.linspace(20, 400, 100).astype(int)
    quiet(ThroughputDecays(), run(0.002 * length, env_steps_per_update=length))


def test_quiet_when_the_machine_was_busy_for_a_while():
    costs = np.full(120, 0.05)
    costs[60:90] = 0.4
    quiet(ThroughputDecays(), run(costs))


def test_quiet_when_it_only_gets_somewhat_slower():
    quiet(ThroughputDecays(), run(np.linspace(0.05, 0.1, 100)))


def test_declines_on_a_run_of_a_second():
    not_enough(ThroughputDecays(), run(np.linspace(0.0001, 0.002, 100)))
