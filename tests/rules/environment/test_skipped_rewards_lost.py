import pytest

from rldebug.rules.environment.skipped_rewards_lost import SkippedRewardsLost
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        class Skip(gym.Wrapper):
            def step(self, action):
                for _ in range(4):
                    obs, reward, terminated, truncated, info = self.env.step(action)
                    if terminated or truncated:
                        break
                return obs, reward, terminated, truncated, info  # here
        """,
        """
        class Repeat:
            def step(self, a):
                total = 0.0
                for i in range(self.k):
                    o, r, done, info = self.inner.step(a)
                    self.frames.append(o)
                    if done:
                        break
                return o, r, done, info  # here
        """,
    ],
)
def test_fires_where_nothing_adds_up(code):
    points_at(SkippedRewardsLost(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        class Skip(gym.Wrapper):
            def step(self, action):
                total = 0.0
                for _ in range(4):
                    obs, reward, terminated, truncated, info = self.env.step(action)
                    total += reward
                    if terminated or truncated:
                        break
                return obs, total, terminated, truncated, info
        """,
        """
        class Best(gym.Wrapper):
            def step(self, action):
                best = -1e9
                for _ in range(4):
                    obs, reward, terminated, truncated, info = self.env.step(action)
                    best = max(best, reward)
                return obs, best, terminated, truncated, info
        """,
        """
        class Plain(gym.Wrapper):
            def step(self, action):
                obs, reward, terminated, truncated, info = self.env.step(action)
                return obs, reward, terminated, truncated, info

            def reset(self, **kwargs):
                obs, info = self.env.reset(**kwargs)
                for _ in range(10):
                    obs, reward, terminated, truncated, info = self.env.step(0)
                return obs, info
        """,
    ],
)
def test_quiet_where_it_is_read_or_not_repeated(code):
    quiet(SkippedRewardsLost(), text(code))
