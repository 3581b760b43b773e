import ast

import pytest

from rldebug.syntax.made_envs import convention, lanes
from tests.syntax.snippets import asked, text

_HEAD = """
import gymnasium as gym
from gymnasium.wrappers import TimeLimit
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from stable_baselines3.common.env_util import make_vec_env

class Own(gym.Wrapper):
    pass

def make(name, n=3):
    return gym.make(name)

COUNT = 4
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("env = gym.make('a')", ("gymnasium", None)),
        ("env = TimeLimit(make('a'), 5)", ("gymnasium", None)),
        ("env = Own(gym.make('a'))", ("", None)),
        ("env = gym.vector.SyncVectorEnv([lambda: make('a') for _ in range(COUNT)])", ("gymnasium", 4)),
        ("env = gym.make_vec('a', num_envs=2)", ("gymnasium", 2)),
        ("env = DummyVecEnv([lambda: make('a')] * COUNT)", ("sb3", 4)),
        ("env = VecNormalize(make_vec_env('a'))", ("sb3", 1)),
        ("env = other('a')", ("", None)),
    ],
)
def test_whose_form_and_how_many(code, expected):
    source = text(f"{_HEAD}\n{code}\nenv.step(0)  # ask\n")
    env = asked(source).func
    assert isinstance(env, ast.Attribute)
    assert (convention(source, env.value), lanes(source, env.value)) == expected


def test_the_old_gym_has_another_form():
    source = text("import gym\nenv = gym.make('a')\nenv.step(0)  # ask")
    assert convention(source, asked(source).func.value) == ""
