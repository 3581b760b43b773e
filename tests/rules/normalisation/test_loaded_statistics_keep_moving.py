import pytest

from rldebug.rules.normalisation.loaded_statistics_keep_moving import LoadedStatisticsKeepMoving
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
        from stable_baselines3 import PPO
        from stable_baselines3.common.evaluation import evaluate_policy
        from stable_baselines3.common.vec_env import VecNormalize
"""


@pytest.mark.parametrize(
    "code",
    [
        """
        model.learn(1000)
        test = VecNormalize.load("norm.pkl", make())  # here
        test.norm_reward = False
        print(evaluate_policy(model, test, n_eval_episodes=5))
        """,
        """
        def play(model):
            world = VecNormalize.load("norm.pkl", make())  # here
            obs = world.reset()
            for _ in range(100):
                obs, reward, done, info = world.step(model.predict(obs)[0])
        """,
    ],
)
def test_fires_where_nothing_holds_them_still(code):
    points_at(LoadedStatisticsKeepMoving(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
        test = VecNormalize.load("norm.pkl", make())
        test.training = False
        print(evaluate_policy(model, test, n_eval_episodes=5))
        """,
        """
        env = VecNormalize.load("norm.pkl", make())
        model = PPO.load("model", env=env)
        model.learn(1000)
        print(evaluate_policy(model, env))
        """,
        """
        env = VecNormalize.load("norm.pkl", make())
        env.set_attr("training", False)
        print(evaluate_policy(model, env))
        """,
    ],
)
def test_quiet_where_they_stand_still_or_training_goes_on(code):
    quiet(LoadedStatisticsKeepMoving(), text(HEAD + code))
