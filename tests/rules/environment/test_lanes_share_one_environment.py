import gymnasium
import numpy as np
import torch

from rldebug.rules.environment.lanes_share_one_environment import LanesShareOneEnvironment
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, script
from tests.watched import watched

rule = LanesShareOneEnvironment()


def play(makers):
    envs = gymnasium.vector.SyncVectorEnv(makers)
    net = torch.nn.Linear(2, 2)
    obs, _ = envs.reset(seed=0)
    for _ in range(8):
        with torch.no_grad():
            net(torch.as_tensor(obs))
        obs, *_ = envs.step(np.zeros(len(makers), dtype=np.int64))


def one():
    env = Line()
    return [lambda: env] * 3


def test_fires_where_each_function_returns_the_same_environment():
    assert "3 lanes" in fires(rule, watched(lambda: play(one()))[1]).seen


def test_quiet_where_each_has_its_own():
    quiet(rule, watched(lambda: play([Line] * 3))[1])
    quiet(rule, script({"lanes": 3, "facts": {"instances": 3}}))


class View(gymnasium.Wrapper):
    """One of several players in a world that they share."""


def test_quiet_on_views_of_a_shared_world():
    world = Line()
    quiet(rule, watched(lambda: play([lambda: View(world)] * 3))[1])


def test_fires_through_the_wrappers_of_libraries():
    world = Line()
    fires(rule, watched(lambda: play([lambda: gymnasium.wrappers.TimeLimit(world, 9)] * 3))[1])


def test_fires_on_evidence_by_hand():
    assert fires(rule, script({"lanes": 16, "facts": {"instances": 1}})).severity == "error"


def test_not_enough_where_they_are_out_of_sight():
    assert not_enough(rule, script({"lanes": 4}))
