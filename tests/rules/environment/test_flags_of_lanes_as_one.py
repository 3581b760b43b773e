import pytest

from rldebug.rules.environment.flags_of_lanes_as_one import FlagsOfLanesAsOne
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.make_vec("CartPole-v1", num_envs=4)
        obs, _ = envs.reset()
        for _ in range(100):
            obs, reward, terminated, truncated, _ = envs.step(act(obs))
            if terminated:  # here
                print("over")
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        def watch(model):
            venv = make_vec_env("CartPole-v1", n_envs=8)
            obs = venv.reset()
            done = False
            while not done:  # here
                obs, rewards, done, infos = venv.step(model.predict(obs)[0])
        """,
        """
        import gymnasium as gym
        class Runner:
            def __init__(self):
                self.envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(3)])
            def step(self, a):
                o, r, ended, cut, _ = self.envs.step(a)
                done = ended or cut  # here
                return o, r, done
        """,
    ],
)
def test_fires_on_several_lanes(code):
    points_at(FlagsOfLanesAsOne(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.make_vec("CartPole-v1", num_envs=4)
        obs, reward, terminated, truncated, _ = envs.step(a)
        if terminated.any() or truncated.any():
            print("over")
        done = terminated | truncated
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        venv = make_vec_env("CartPole-v1")
        obs, rewards, done, infos = venv.step(a)
        if done:
            obs = venv.reset()
        """,
        """
        import gymnasium as gym
        envs = gym.make_vec("CartPole-v1", num_envs=4)
        obs, reward, terminated, truncated, _ = envs.step(a)
        for lane, over in enumerate(terminated):
            if over:
                print(lane)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, reward, terminated, truncated, _ = env.step(a)
        if terminated or truncated:
            env.reset()
        """,
    ],
)
def test_quiet_on_one_lane_or_each(code):
    quiet(FlagsOfLanesAsOne(), text(code))
