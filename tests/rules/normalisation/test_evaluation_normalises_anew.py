import pytest

from rldebug.rules.normalisation.evaluation_normalises_anew import EvaluationNormalisesAnew
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize, sync_envs_normalization

"""


@pytest.mark.parametrize(
    "code",
    [
        """
train = VecNormalize(DummyVecEnv([make]))
model = PPO("MlpPolicy", train)
model.learn(1000)
test = VecNormalize(DummyVecEnv([make]), training=False, norm_reward=False)  # here
mean, std = evaluate_policy(model, test, n_eval_episodes=10)
""",
        """
def play(path):
    env = DummyVecEnv([make])
    env = VecNormalize(env, norm_reward=False)  # here
    env.training = False
    model = PPO.load(path)
    print(evaluate_policy(model=model, env=env))
""",
    ],
)
def test_fires_where_statistics_are_new(code):
    points_at(EvaluationNormalisesAnew(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "env = VecNormalize.load('s.pkl', DummyVecEnv([make]))\nevaluate_policy(model, env)",
        "env = VecNormalize(DummyVecEnv([make]))\nmodel = PPO('MlpPolicy', env)\nevaluate_policy(model, env)",
        "test = VecNormalize(DummyVecEnv([make]))\nsync_envs_normalization(train, test)\nevaluate_policy(model, test)",
        "test = VecNormalize(DummyVecEnv([make]))\ntest.obs_rms = train.obs_rms\nevaluate_policy(model, test)",
        "test = DummyVecEnv([make])\nevaluate_policy(model, test)",
        "test = VecNormalize(DummyVecEnv([make]))\nmodel = PPO('MlpPolicy', train)",
    ],
)
def test_quiet_where_they_come_from_the_training(code):
    quiet(EvaluationNormalisesAnew(), text(HEAD + code))
