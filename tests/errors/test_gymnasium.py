"""Environments: how they are used, M059–M070 and their relatives."""

# ruff: noqa: RUF059 — what is unpacked is never reached

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import PassiveEnvChecker, TimeLimit
from torch import nn

from tests.errors.cases import cases_in, check, raises
from tests.errors.worlds import Grid


class OldGrid(Grid):
    """As gym had it before 0.26."""

    def reset(self):
        return self.obs

    def step(self, action):
        return self.obs, 0.0, False, {}


# ── M059–M062: what step() and reset() return ───────────────────────────────────────────────────────────────────────


@raises("M059", "ENV401", "five values", "four are unpacked", "terminated, truncated")
def four_values_of_step():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    obs, reward, done, info = env.step(0)  # here


@raises("M059 class", "ENV401", "five values")
def four_values_in_a_runner():
    class Runner:
        def __init__(self, env):
            self.env = env

        def rollout(self):
            self.env.reset()
            for _ in range(3):
                s2, r, d, _ = self.env.step(self.env.action_space.sample())  # here

    Runner(Grid()).rollout()


@raises("M060", "ENV401", "returned 4 values", "old gym")
def old_environment_in_a_new_wrapper():
    env = TimeLimit(OldGrid(), 10)
    env.unwrapped.reset()
    env._elapsed_steps = 0
    env.step(0)  # here


@raises("M060 own loop", "ENV401", "returned 4 values")
def five_values_of_an_old_environment():
    world = OldGrid()
    world.reset()
    obs, reward, terminated, truncated, info = world.step(1)  # here


@raises("M061", "ENV401", "reset()", "obs, info")
def two_values_of_an_old_reset():
    world = OldGrid()
    obs, info = world.reset()  # here


@raises("M061 vector", "ENV401", "reset()", "VecEnv")
def two_values_of_a_vector_reset():
    class Vector:
        def reset(self):
            return np.zeros((3, 4))

        def step(self, actions):
            return None

    obs, infos = Vector().reset()  # here


@raises("M062", "ENV403", "state, info = env.reset()", "by `env.reset(seed=1)`")
def reset_into_from_numpy():
    env = gym.make("CartPole-v1")
    state = env.reset(seed=1)  # here
    return torch.from_numpy(state)


@raises("M062 network", "ENV403", "s, info = env.reset()")
def reset_into_a_network():
    policy, env = nn.Linear(4, 2), Grid()
    s = env.reset()  # here
    return policy(s)


@raises("X447 predict", "ENV403", "obs, info", only_text=True)
def reset_into_predict():
    raise ValueError(  # here
        "You have passed a tuple to the predict() function instead of a Numpy array or a Dict. You are probably mixing"
        " Gym API with SB3 VecEnv API: `obs, info = env.reset()` (Gym) vs `obs = vec_env.reset()` (SB3 VecEnv)."
    )


@raises("X448 info", "PRE403", "state is a dict")
def info_taken_for_the_observation():
    _, state = gym.make("CartPole-v1").reset(seed=0)
    return torch.as_tensor(state)  # here


@raises("X449 dict", "PRE403", "seen is a dict of 2")
def observation_of_several_parts():
    policy = nn.Linear(4, 2)
    space = spaces.Dict(position=spaces.Box(-1, 1, (2,)), goal=spaces.Box(-1, 1, (2,)))
    seen = dict(space.sample())
    return policy(seen)  # here


# ── M064: shapes ────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M064", "PRE407", "(3,)", "(4,)", "Cut", text_too=False)
def wrapper_that_forgets_the_space():
    class Cut(gym.ObservationWrapper):
        def observation(self, observation):
            return observation[:3]

    env = Cut(gym.make("CartPole-v1"))
    rows = np.zeros((8, *env.observation_space.shape), np.float32)
    obs, _ = env.reset(seed=0)
    rows[0] = obs  # here


@raises("M064 vector", "PRE407", "(5,) instead of (4,)")
def observation_unlike_the_space_in_a_vector():
    envs = gym.vector.SyncVectorEnv([lambda: Grid(np.zeros(5, np.float32))] * 2)
    envs.reset(seed=0)  # here


# ── M065–M067: reset first ──────────────────────────────────────────────────────────────────────────────────────────


@raises("M065", "ENV402", "env was stepped before it was reset")
def no_reset():
    env = gym.make("CartPole-v1")
    env.step(0)  # here


@raises("M065 another instance", "ENV402", "before it was reset")
def another_environment_reset():
    class Trainer:
        def __init__(self):
            self.train_env, self.test_env = gym.make("CartPole-v1"), gym.make("CartPole-v1")

        def evaluate(self):
            self.train_env.reset(seed=0)  # here
            return self.test_env.step(1)

    Trainer().evaluate()


@raises("M066", "ENV402", "episode had ended", "terminated or truncated", warns=True)
def steps_after_the_end():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    for _ in range(200):
        env.step(0)  # here


@raises("M067", "ENV402", "episode had ended", "wrapper's own", only_text=True)
def monitor_that_needs_a_reset():
    raise RuntimeError("Tried to step environment that needs reset")  # here


@raises("X417 render", "ENV402", "rendered before it was reset")
def render_before_reset():
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    env.render()  # here


class Maze(gym.Env):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position = 0
        return self.position, {}

    def step(self, action):
        self.position += action
        return self.position, 0.0, False, False, {}


@raises("X418 own environment", "ENV402", "maze was stepped", "self.position is made in reset()")
def own_environment_stepped_first():
    maze = Maze()
    maze.step(1)  # here


# ── M069, M070 ──────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M069", "ENV405", "reset() of OldGrid", "seed", "test_gymnasium.py:")
def old_reset_is_given_a_seed():
    OldGrid().reset(seed=3)  # here


@raises("M069 wrapper", "ENV405", "reset() of Counted", "self.env.reset(seed=seed, options=options)")
def wrapper_with_the_old_reset():
    class Counted(gym.Wrapper):
        def reset(self):
            return self.env.reset()

    gym.vector.SyncVectorEnv([lambda: Counted(Grid())]).reset(seed=[1])  # here


@raises("M069 checker", "ENV405", "seed")
def checker_finds_no_seed():
    check_env(OldNames(), skip_render_check=True)  # here


class OldNames(Grid):
    def reset(self):
        return self.obs, {}


@raises("X419 options", "ENV405", "demands options")
def reset_that_demands_options():
    class Picky(Grid):
        def reset(self, seed, options):
            return self.obs, {}

    Picky().reset(seed=0)  # here


@raises("M070 seed", "ENV440", "env", "env.reset(seed=seed)")
def seed_of_old_gym():
    env = gym.make("CartPole-v1")
    env.seed(7)  # here


@raises("M070 attribute", "ENV440", "CartPoleEnv", "env.unwrapped.theta_threshold_radians")
def attribute_of_the_environment_inside():
    env = gym.make("CartPole-v1")
    return env.theta_threshold_radians  # here


@raises("M070 own attribute", "ENV440", "Grid", "self.world.unwrapped.goal_cell")
def attribute_of_an_own_environment():
    class Agent:
        def __init__(self):
            self.world = TimeLimit(PassiveEnvChecker(Grid()), 100)

        def plan(self):
            return self.world.goal_cell  # here

    Agent().plan()


@raises("M070 in between", "ENV440", 'env.get_wrapper_attr("scale")')
def attribute_of_a_wrapper_in_between():
    class Scaled(gym.RewardWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.scale = 0.1

        def reward(self, reward):
            return reward * self.scale

    env = TimeLimit(Scaled(Grid()), 5)
    return env.scale  # here


@raises("M070 vector", "ENV440", 'envs.get_attr("goal_cell")')
def attribute_of_a_vector():
    envs = gym.vector.SyncVectorEnv([Grid, Grid])
    return envs.goal_cell  # here


# ── info, agents, actions, displays ─────────────────────────────────────────────────────────────────────────────────


@raises("X432 final_observation", "ENV404", "infos does not hold final_observation", "final_obs")
def last_observation_under_its_old_name():
    envs = gym.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    envs.reset(seed=0)
    obs, rewards, ends, cuts, infos = envs.step(np.array([0, 1]))
    return infos["final_observation"]  # here


@raises("X433 truncated", "ENV404", "truncated, the fourth value")
def truncation_of_old_gym():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    *_, info = env.step(0)
    return info["TimeLimit.truncated"]  # here


@raises("X434 final_info", "ENV404", "RecordEpisodeStatistics")
def final_info_of_gymnasium_0():
    infos = {"episode": {}, "_episode": {}}
    for each in infos["final_info"]:  # here
        print(each)


@raises("X435 action out of range", "ACT403", "Discrete(2)")
def action_out_of_range():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    env.step(5)  # here


@raises("X435 array", "ACT403", "(1,)", "action.item()")
def action_that_is_an_array():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    action = np.array([1])
    env.step(action)  # here


@raises("X435 tensor", "ACT403", "int64", "action.item()")
def action_that_is_a_tensor():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    logits = torch.tensor([0.1, 0.4])
    env.step(logits.argmax())  # here


@raises("X435 scalar for a box", "ACT403", "Box", "shape (1,)", text_too=False)
def number_for_a_box():
    env = gym.make("Pendulum-v1")
    env.reset(seed=0)
    env.step(0.3)  # here


class Bare(gym.Env):
    def reset(self, *, seed=None, options=None):
        return 0, {}


@raises("X437 no space", "ENV444", "Bare declares no action_space", "test_gymnasium.py:")
def environment_without_spaces():
    env = Bare()
    return env.action_space.sample()  # here


@raises("X437 checker", "ENV444", "Bare", text_too=True)
def checker_finds_no_space():
    PassiveEnvChecker(Bare())  # here


@raises("X437 single", "ENV444", "single_observation_space", "make_vec")
def one_environment_taken_for_several():
    env = gym.make("CartPole-v1")
    return env.single_observation_space  # here


class Plain:
    def reset(self):
        return 0

    def step(self, action):
        return 0, 0.0, False, {}


@raises("X438 no gymnasium", "ENV445", "Plain is no environment", "class Plain(gym.Env)")
def class_that_inherits_from_nothing():
    TimeLimit(Plain(), 10)  # here


class Soccer:
    """As PettingZoo's parallel API has it."""

    def __init__(self):
        self.possible_agents = ["striker", "keeper"]
        self.agents = list(self.possible_agents)

    def reset(self, seed=None, options=None):
        return {agent: np.zeros(2) for agent in self.agents}, {}

    def step(self, actions):
        self.agents = ["keeper"]
        return {agent: np.zeros(2) for agent in self.agents}, {}, {}, {}, {}


@raises("X439 agent gone", "ENV446", "striker is not in seen", "env.agents", text_too=False)
def agent_that_has_left():
    world = Soccer()
    seen, _ = world.reset()
    for _ in range(2):
        actions = {agent: seen[agent].sum() for agent in world.possible_agents}  # here
        seen, *_ = world.step(actions)


@raises("X439 dead agent", "ENV446", "None", only_text=True)
def dead_agent_acts():
    raise ValueError("when an agent is dead, the only valid action is None")  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
