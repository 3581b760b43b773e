"""Probes for several agents: what the contract of a parallel environment asks, and that nobody is paid for another."""

import numpy as np
import pytest

from rldebug.probes.agent import Factory
from rldebug.probes.examine_agents import examine_agents
from rldebug.probes.shelf import find


@pytest.mark.parametrize("name", ["constant-reward", "observed-reward", "sparse-chain", "unequal-episodes"])
def test_the_contract_is_kept(name):
    seen = examine_agents(lambda: Factory(find(name)()).parallel(3), name=name, steps=300)
    assert seen.agents == ("agent_0", "agent_1", "agent_2")
    assert seen.steps == 300
    assert seen.episodes > 2
    assert (seen.absent, seen.unsaid, seen.stayed, seen.revived, seen.possible) == ((), None, None, None, None)
    assert (seen.spaces, seen.one_array) == ((), None)


def test_each_is_paid_for_its_own_state():
    factory = Factory(find("observed-reward")())
    env = factory.parallel(4)
    unlike = 0
    for seed in range(10):
        obs, _ = env.reset(seed=seed)
        _, rewards, terminated, _, _ = env.step(dict.fromkeys(env.agents, 0))
        assert all(terminated.values())
        assert env.agents == []
        states = {agent: int(np.argmax(each)) for agent, each in obs.items()}
        by_state = {states[agent]: reward for agent, reward in rewards.items()}
        assert all(by_state[states[agent]] == reward for agent, reward in rewards.items())
        unlike += len(by_state) > 1
    assert unlike > 5
    assert {each.env for each in factory.log} == {0, 1, 2, 3}


def test_agents_leave_one_by_one():
    env = Factory(find("unequal-episodes")()).parallel(3)
    env.reset(seed=0)
    left = []
    while env.agents:
        env.step(dict.fromkeys(env.agents, 0))
        left.append(len(env.agents))
    assert sorted(left, reverse=True) == left
    assert 0 < left[0] < 3


def test_an_action_for_everybody_is_asked_for():
    env = Factory(find("constant-reward")()).parallel(2)
    env.reset()
    with pytest.raises(ValueError, match=r"no action for agent_1: expected one for each of env\.agents"):
        env.step({"agent_0": 0})
