import pytest

from rldebug.rules.buffer.final_observation_under_another_name import FinalObservationUnderAnotherName
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.make_vec("Hopper-v5", num_envs=4)
        obs, _ = envs.reset()
        for t in range(100):
            after, reward, terminated, truncated, infos = envs.step(act(obs))
            real = after.copy()
            for i, cut in enumerate(truncated):
                if cut and "terminal_observation" in infos:  # here
                    real[i] = infos["terminal_observation"][i]  # here
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        class Runner:
            def __init__(self):
                self.venv = make_vec_env("Hopper-v5", n_envs=4)
            def play(self, actions):
                after, rewards, dones, infos = self.venv.step(actions)
                for i, info in enumerate(infos):
                    last = info.get("final_observation")  # here
                    if last is not None:
                        after[i] = last
                return after
        """,
    ],
)
def test_fires_on_the_name_of_the_other_library(code):
    points_at(FinalObservationUnderAnotherName(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.make_vec("Hopper-v5", num_envs=4)
        after, reward, terminated, truncated, infos = envs.step(a)
        if "final_obs" in infos:
            print(infos["final_obs"])
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        venv = make_vec_env("Hopper-v5", n_envs=4)
        after, rewards, dones, infos = venv.step(a)
        print(infos[0]["terminal_observation"])
        """,
        """
        import gymnasium as gym
        envs = gym.make_vec("Hopper-v5", num_envs=4)
        after, reward, terminated, truncated, infos = envs.step(a)
        last = infos.get("final_obs", infos.get("terminal_observation"))
        """,
        """
        def f(envs, a):
            after, reward, terminated, truncated, infos = envs.step(a)
            return infos["terminal_observation"]
        """,
    ],
)
def test_quiet_on_the_own_name(code):
    quiet(FinalObservationUnderAnotherName(), text(code))
