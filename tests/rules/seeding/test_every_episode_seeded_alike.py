import pytest

from rldebug.rules.seeding.every_episode_seeded_alike import EveryEpisodeSeededAlike
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        for episode in range(500):
            obs, _ = env.reset(seed=42)  # here
            done = False
            while not done:
                obs, reward, terminated, truncated, _ = env.step(act(obs))
                done = terminated or truncated
        """,
        """
        def collect(env, steps, config):
            obs, _ = env.reset(seed=config.seed)
            for t in range(steps):
                obs, reward, terminated, truncated, _ = env.step(act(obs))
                if terminated or truncated:
                    obs, _ = env.reset(seed=config.seed)  # here
        """,
    ],
)
def test_fires_where_the_loop_never_changes_it(code):
    points_at(EveryEpisodeSeededAlike(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def play(env, seed):
            for episode in range(500):
                obs, _ = env.reset(seed=seed + episode)
                while True:
                    obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        def play(env, seed):
            obs, _ = env.reset(seed=seed)
            while True:
                obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        def compare(env, agents):
            for agent in agents:
                obs, _ = env.reset(seed=1)
                while True:
                    obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
        """,
        """
        def play(env, rng):
            for episode in range(500):
                obs, _ = env.reset(seed=int(rng.integers(1 << 30)))
                obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        import gymnasium as gym
        for run in range(3):
            env = gym.make("CartPole-v1")
            obs, _ = env.reset(seed=0)
            for t in range(100):
                obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        def play(env, seed):
            for episode in range(500):
                obs, _ = env.reset(seed=seed)
                obs, reward, terminated, truncated, _ = env.step(act(obs))
                seed = None
        """,
        """
        def compare(one, other, seed):
            for episode in range(9):
                a, _ = one.reset(seed=seed)
                b, _ = other.reset(seed=seed)
                a, reward, terminated, truncated, _ = one.step(0)
                b, reward, terminated, truncated, _ = other.step(0)
        """,
        """
        import gymnasium as gym
        class Skip(gym.Wrapper):
            def reset(self, *, seed=None, options=None):
                obs, info = self.env.reset(seed=seed)
                for _ in range(3):
                    obs, reward, terminated, truncated, info = self.env.step(0)
                    if terminated:
                        obs, info = self.env.reset(seed=seed)
                return obs, info
        """,
        """
        def learn(env):
            for k in range(1000):
                update()
                if k % 100 == 99:
                    obs, _ = env.reset(seed=77)
                    for _ in range(200):
                        obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        def judge(rank, net, seed, counter):
            net.eval()
            while counter.value < 100:
                obs, _ = env.reset(seed=seed + rank)
                obs, reward, terminated, truncated, _ = env.step(act(net, obs))
        """,
    ],
)
def test_quiet_where_it_changes_or_is_given_once(code):
    quiet(EveryEpisodeSeededAlike(), text(code))
