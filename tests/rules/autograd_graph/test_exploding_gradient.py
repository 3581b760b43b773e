import numpy as np

from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.exploding_gradient import ExplodingGradient
from tests.judge import fires, not_enough, quiet


def steady(n, seed=0):
    return list(np.exp(np.random.default_rng(seed).normal(size=n)))


def test_fires_when_the_norm_rises_and_stays():
    norm = steady(20) + [each * 1e5 for each in steady(20)]
    assert fires(ExplodingGradient(), Run.from_series({"grad/norm": norm})).where.update == 20


def test_fires_when_spikes_come_again_and_again():
    norm = steady(60)
    for i in range(5, 60, 9):
        norm[i] = 1e6
    assert "readings" in fires(ExplodingGradient(), Run.from_series({"grad/norm@critic": norm})).seen


def test_fires_as_a_trap_on_an_absurd_size():
    fires(ExplodingGradient(), Run.from_series({"grad/norm": [1e9], "grad/rms": [1e8]}))


def test_quiet_when_the_norm_wanders_by_two_orders_of_magnitude():
    quiet(ExplodingGradient(), Run.from_series({"grad/norm": [0.1 * 1.12**i for i in range(60)]}))


def test_quiet_when_the_first_reward_is_found_late():
    run = Run.from_series(
        {
            "grad/norm": [1e-3] * 20 + [10.0] * 20,
            "replay/reward_min": [0.0] * 40,
            "replay/reward_max": [0.0] * 20 + [1000.0] * 20,
        }
    )
    quiet(ExplodingGradient(), run)


def test_quiet_when_losses_are_summed_over_episodes_that_grow():
    length = [10.0] * 20 + [500.0] * 20
    run = Run.from_series(
        {
            "grad/norm": [1.0] * 20 + [2000.0] * 20,
            "batch/rows": length,
            "episode/return_min": length,
            "episode/return_max": length,
        }
    )
    quiet(ExplodingGradient(), run)


def test_quiet_when_one_reading_is_large():
    quiet(ExplodingGradient(), Run.from_series({"grad/norm": [*steady(30), 1e6, *steady(30)]}))


def test_declines_on_a_handful_of_readings():
    not_enough(ExplodingGradient(), Run.from_series({"grad/norm": [1.0, 1.0, 1e9, 1e9]}))
