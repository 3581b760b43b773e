"""Rows of a world whose observations come back are known by the whole transition."""

import numpy as np
from tests.programs.made import nodes, script
from tests.programs.value_learners import GAMMA, learned

from rldebug.forensics.target_twins import world_of
from rldebug.forensics.targets import fit_targets


def test_targets_are_explained_although_every_observation_comes_back():
    script = learned(world="rooms")
    assert world_of(script).twin.mean() > 0.9
    (fit,) = fit_targets(script)
    assert abs((fit.gamma or 0) - GAMMA) < 1e-4
    assert fit.rightly("terminated")


def test_own_observations_are_seen_as_such():
    (fit,) = fit_targets(learned("own", world="rooms"))
    assert fit.mistake == "own"


def test_several_steps_are_counted_and_their_ends_known():
    (fit,) = fit_targets(learned(n=3))
    assert fit.n == 3
    assert abs((fit.power or 0) - GAMMA**3) < 1e-3
    assert fit.rightly("terminated")
    assert fit.rightly("truncated")


def test_the_reward_of_the_step_before_is_recognised():
    (fit,) = fit_targets(learned("reward-late"))
    assert fit.mistake == "reward-late"


def test_rewards_of_several_steps_with_the_value_after_the_first_are_recognised():
    (fit,) = fit_targets(learned("near", n=3))
    assert (fit.mistake, fit.n) == ("near", 3)


def test_a_step_that_led_elsewhere_long_ago_is_not_forgotten_among_its_likes():
    looks = np.tile([0.0, 1.0], 120)
    looks[1] = 2.0  # the first step from 0 alone leads to 2
    world = world_of(script([(nodes(looks[:, None] + np.zeros((1, 3))), [])]))
    led = world.leading(1, 0, 0.0)
    assert {world.look[1], world.look[3]} == set(led)
    assert led[int(world.look[1])] == [0]
