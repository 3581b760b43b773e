import gymnasium as gym
import numpy as np
from gymnasium.wrappers import NormalizeObservation

from rldebug.capture.normalisers import normalisers
from tests import wild


def test_statistics_of_all_environments_are_told_where_an_audit_ends():
    script = wild.seen("normalised_env")[1]
    told = script.noted("normalisers")
    assert told
    last = {each["stream"]: each for each in told[-1]["environments"]}
    assert len(last) == 2
    assert {each["what"] for each in last.values()} == {"NormalizeObservation"}
    assert len({each["kept"] for each in last.values()}) == 1, "the evaluation has those of training"
    assert [each["updates"] for _, each in sorted(last.items())] == [True, False]
    counts = [each["environments"][0]["count"] for each in told]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_layers_are_asked_and_never_called():
    env = NormalizeObservation(gym.make("CartPole-v1"))
    env.reset(seed=0)
    (told,) = normalisers(env)
    np.testing.assert_allclose(told["mean"], env.obs_rms.mean)
    assert told["count"] == 1.0001
    assert list(normalisers(gym.make("CartPole-v1"))) == []


def test_a_layer_that_leaves_observations_alone_is_left_out():
    class Rewards(gym.Wrapper):
        norm_obs = False

        def __init__(self, env):
            super().__init__(env)
            self.obs_rms = object()

    assert list(normalisers(Rewards(gym.make("CartPole-v1")))) == []
