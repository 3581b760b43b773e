import pytest

from rldebug.rules.environment.skip_runs_past_the_end import SkipRunsPastTheEnd
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        class Skip(gym.Wrapper):
            def step(self, action):
                total = 0.0
                for _ in range(4):
                    obs, reward, terminated, truncated, info = self.env.step(action)  # here
                    total += reward
                return obs, total, terminated, truncated, info
        """,
        """
        class Repeat:
            def step(self, a):
                pay = []
                for i in range(self.k):
                    o, r, done, info = self.inner.step(a)  # here
                    pay.append(r)
                return o, sum(pay), done, info
        """,
    ],
)
def test_fires_where_no_flag_is_read(code):
    points_at(SkipRunsPastTheEnd(), code)


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
        class Skip(gym.Wrapper):
            def step(self, action):
                total, over = 0.0, False
                for _ in range(4):
                    if not over:
                        obs, reward, terminated, truncated, info = self.env.step(action)
                        over = terminated or truncated
                        total += reward
                return obs, total, terminated, truncated, info
        """,
        """
        class Vector:
            def step(self, actions):
                for env, action in zip(self.envs, actions):
                    obs, reward, terminated, truncated, info = env.step(action)
                    self.rewards.append(reward)
                return obs, self.rewards, terminated, truncated, info
        """,
    ],
)
def test_quiet_where_it_is_read_or_not_repeated(code):
    quiet(SkipRunsPastTheEnd(), text(code))
