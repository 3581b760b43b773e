import pytest

from rldebug.rules.evaluation.normalised_reward_summed import NormalisedRewardSummed
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
from stable_baselines3 import SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

"""


@pytest.mark.parametrize(
    "code",
    [
        """
def score(path):
    env = make_vec_env(make, 4)
    env = VecNormalize.load(path, env)
    env.training = False
    obs, total = env.reset(), 0.0
    for _ in range(100):
        action, _ = model.predict(obs, deterministic=True)
        obs, reward, done, _ = env.step(action)
        total += reward[0] * 2  # here
    return total
""",
        """
test = VecNormalize(DummyVecEnv([make]), training=False)
seen = []
while True:
    obs, paid, over, info = test.step(model.predict(obs)[0])
    seen.append(float(paid))  # here
""",
    ],
)
def test_fires_where_they_are_added_up(code):
    points_at(NormalisedRewardSummed(), HEAD + code)


LOOP = "obs, r, d, info = env.step(a)\n"


@pytest.mark.parametrize(
    "code",
    [
        f"env = VecNormalize.load(p, venv)\nenv.training = False\nenv.norm_reward = False\n{LOOP}total += r",
        f"env = VecNormalize(venv, norm_reward=False, training=False)\n{LOOP}total += r",
        f"env = VecNormalize(venv)\n{LOOP}total += r",
        f"env = VecNormalize.load(p, venv)\nenv.training = False\n{LOOP}total += env.get_original_reward()",
        f"env = VecNormalize.load(p, venv)\nenv.training = False\n{LOOP}total += info[0]['episode']['r'] + 0 * r",
        f"env = VecNormalize.load(p, venv)\nenv.training = False\n{LOOP}n += 1",
        f"env = DummyVecEnv([make])\n{LOOP}total += r",
    ],
)
def test_quiet_where_they_are_the_environments_own_or_not_added(code):
    quiet(NormalisedRewardSummed(), text(HEAD + code))
