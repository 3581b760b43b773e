import gymnasium as gym

from rldebug.probes.agents.cheat import cheat


class Hidden(gym.Env):
    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(9)
    secret = 4


class Tells(Hidden):
    def optimal_action(self):
        return self.secret


class Sees(Hidden):
    def cheat(self, obs):
        return self.secret + obs


def test_it_asks_the_environment_below_the_wrappers_for_the_moment():
    env = gym.wrappers.TimeLimit(Tells(), 10)
    agent = cheat(env)
    assert agent.act(None, {}, 0) == 4
    env.unwrapped.secret = 7
    assert agent.act(None, {}, 1) == 7


def test_it_may_ask_with_the_observation():
    assert cheat(Sees()).act(2, {}, 0) == 6


def test_there_is_none_where_the_environment_cannot_tell():
    assert cheat(Hidden()) is None
