import pytest

from rldebug.rules.evaluation.predict_samples_by_default import PredictSamplesByDefault
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        from stable_baselines3 import PPO
        env = gym.make("CartPole-v1")
        model = PPO("MlpPolicy", env)
        model.learn(1000)
        obs, _ = env.reset()
        for _ in range(500):
            action, _ = model.predict(obs)  # here
            obs, reward, terminated, truncated, _ = env.step(action)
        """,
        """
        from stable_baselines3 import SAC
        def watch(env, n):
            model = SAC("MlpPolicy", env)
            obs = env.reset()
            while n:
                obs, reward, done, info = env.step(model.predict(obs)[0])  # here
                n -= done
        """,
    ],
)
def test_fires_in_own_loops(code):
    points_at(PredictSamplesByDefault(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3 import PPO
        def watch(env):
            model = PPO("MlpPolicy", env)
            obs = env.reset()
            while True:
                obs, reward, done, info = env.step(model.predict(obs, deterministic=True)[0])
        """,
        """
        from stable_baselines3 import PPO
        def watch(env):
            model = PPO("MlpPolicy", env)
            obs = env.reset()
            while True:
                obs, reward, done, info = env.step(model.predict(obs, deterministic=False)[0])
        """,
        """
        def watch(env, forest):
            obs = env.reset()
            while True:
                obs, reward, done, info = env.step(forest.predict(obs))
        """,
    ],
)
def test_quiet_where_it_is_said(code):
    quiet(PredictSamplesByDefault(), text(code))
