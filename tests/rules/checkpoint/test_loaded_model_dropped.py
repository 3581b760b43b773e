import pytest

from rldebug.rules.checkpoint.loaded_model_dropped import LoadedModelDropped
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3 import SAC
        def score(path, env):
            agent = SAC("MlpPolicy", env)
            agent.load(path)  # here
            return agent.predict(env.reset()[0])
        """,
        """
        import stable_baselines3 as sb3
        sb3.PPO.load("best", device="cpu")  # here
        """,
        """
        from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
        venv = VecNormalize(DummyVecEnv([make]))
        venv.load("stats.pkl", venv)  # here
        """,
    ],
)
def test_fires_where_what_was_loaded_is_dropped(code):
    points_at(LoadedModelDropped(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3 import SAC
        agent = SAC("MlpPolicy", env)
        agent = SAC.load("best")
        agent.set_parameters("best")
        """,
        """
        class Agent:
            def load(self, path):
                self.path = path
        agent = Agent()
        agent.load("best")
        """,
        """
        from stable_baselines3 import PPO
        def play(agent):
            agent.load("best")
            return PPO.load("best").predict(0)
        """,
    ],
)
def test_quiet_where_it_is_used_or_of_another_kind(code):
    quiet(LoadedModelDropped(), text(code))
