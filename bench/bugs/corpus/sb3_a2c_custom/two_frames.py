import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper


class TwoFrames(VecEnvWrapper):
    """Shows the agent the previous frame beside the present one; at the start of an episode both are the first."""

    def __init__(self, venv):
        inner = venv.observation_space
        low, high = np.tile(inner.low, 2), np.tile(inner.high, 2)
        super().__init__(venv, observation_space=spaces.Box(low, high, dtype=inner.dtype))
        self.before = None

    def reset(self):
        first = self.venv.reset()
        self.before = first.copy()
        return np.concatenate([first, first], axis=1)

    def step_wait(self):
        frames, rewards, dones, infos = self.venv.step_wait()
        for i in np.flatnonzero(dones):
            last = infos[i]["terminal_observation"]
            infos[i]["terminal_observation"] = np.concatenate([self.before[i], last])
            self.before[i] = frames[i]
        seen = np.concatenate([self.before, frames], axis=1)
        self.before = frames.copy()
        return seen, rewards, dones, infos
