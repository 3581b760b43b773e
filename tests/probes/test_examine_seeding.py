import numpy as np
import pytest
from gymnasium import spaces

from rldebug.parts.generators import generators_kept
from rldebug.probes.examine_seeding import Moment, difference, sample, set_globals


def moments(*values, reward=0.0):
    return [Moment(np.array([value]), reward) for value in values]


def test_trajectories_that_agree_have_no_difference():
    assert difference(moments(1.0, 2.0), moments(1.0, 2.0)) is None


def test_the_first_and_the_last_step_that_differ_are_told():
    apart = difference(moments(1.0, 2.0, 3.0, 4.0), moments(1.0, 9.0, 9.0, 4.0))
    assert (apart.step, apart.last, apart.of, apart.dynamics, apart.rounding) == (1, 2, 3, False, False)


def test_rewards_that_differ_are_dynamics():
    assert difference(moments(1.0), moments(1.0, reward=2.0)).dynamics


def test_a_difference_that_grows_out_of_rounding_is_told_apart():
    assert difference(moments(1.0, 2.0), moments(1.0 + 1e-9, 3.0)).rounding


@pytest.mark.parametrize("mask", [np.array([0, 1, 0]), [False, True, False]], ids=["int", "bool"])
def test_masked_actions_are_not_sampled(mask):
    space = spaces.Discrete(3)
    assert {int(sample(space, {"action_mask": mask})) for _ in range(20)} == {1}


def test_one_global_generator_can_be_set_apart():
    with generators_kept():
        set_globals(1)
        one = np.random.random()
        set_globals(1, other=("random",))
        assert np.random.random() == one
        set_globals(1, other=("numpy.random",))
        assert np.random.random() != one
