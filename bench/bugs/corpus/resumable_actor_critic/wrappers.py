import gymnasium as gym
import numpy as np


class StepLimit(gym.Wrapper):
    def __init__(self, env: gym.Env, limit: int) -> None:
        super().__init__(env)
        self.limit = limit
        self.elapsed = 0

    def reset(self, **kwargs):
        self.elapsed = 0
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.elapsed += 1
        return obs, reward, terminated, truncated or self.elapsed >= self.limit, info


class EpisodeStats(gym.Wrapper):
    """Adds info["episode"] = {"return", "length"} to the last step of an episode."""

    def reset(self, **kwargs):
        self.total, self.length = 0.0, 0
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.total += reward
        self.length += 1
        if terminated or truncated:
            info["episode"] = {"return": self.total, "length": self.length}
        return obs, reward, terminated, truncated, info


class ScaleReward(gym.RewardWrapper):
    def __init__(self, env: gym.Env, factor: float) -> None:
        super().__init__(env)
        self.factor = factor

    def reward(self, reward):
        return self.factor * reward


class RunningStats:
    """Mean and variance of a stream of vectors."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 1e-4
        self.mean = np.zeros(shape)
        self.var = np.ones(shape)

    def update(self, batch: np.ndarray) -> None:
        n, mean, var = len(batch), batch.mean(0), batch.var(0)
        total = self.count + n
        delta = mean - self.mean
        self.var = (self.count * self.var + n * var + delta ** 2 * self.count * n / total) / total
        self.mean = self.mean + delta * n / total
        self.count = total

    def state(self) -> dict:
        return {"count": float(self.count), "mean": self.mean.tolist(), "var": self.var.tolist()}

    def restore(self, state: dict) -> None:
        self.count, self.mean, self.var = state["count"], np.array(state["mean"]), np.array(state["var"])


class NormaliseObs(gym.ObservationWrapper):
    """Whitens observations with statistics that may be shared between environments. learn=False freezes them."""

    def __init__(self, env: gym.Env, stats: RunningStats, learn: bool) -> None:
        super().__init__(env)
        self.stats, self.learn = stats, learn
        self.observation_space = gym.spaces.Box(-10.0, 10.0, env.observation_space.shape, np.float32)

    def observation(self, obs):
        if self.learn:
            self.stats.update(obs[None].astype(np.float64))
        return np.clip((obs - self.stats.mean) / np.sqrt(self.stats.var + 1e-8), -10.0, 10.0).astype(np.float32)
