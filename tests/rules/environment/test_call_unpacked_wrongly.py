import gymnasium as gym

from rldebug.rules.environment.call_unpacked_wrongly import CallUnpackedWrongly
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def play(new):
    env = gym.make("CartPole-v1")
    if not new:
        env.reset(seed=0)
        obs, reward, done, info = env.step(0)
        return obs, reward, done, info
    pair = (1, 2, 3)
    first, second = pair
    return first, second


def test_fires_when_step_is_unpacked_into_four():
    finding = names(CallUnpackedWrongly(), crashed(lambda: play(new=False)))
    assert finding.message == "step() returns five values, and four are unpacked"


def test_quiet_when_something_else_is_unpacked():
    quiet(CallUnpackedWrongly(), crashed(lambda: play(new=True)))
