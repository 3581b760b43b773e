"""A trained model of Stable-Baselines3 is watched in two lanes."""

import numpy as np
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env


class Watch:
    def __init__(self, name, lanes=2):
        self.venv = make_vec_env(name, n_envs=lanes, seed=9)
        self.model = A2C("MlpPolicy", self.venv, n_steps=8)

    def train(self, steps):
        self.model.learn(total_timesteps=steps)
        return self

    def scores(self, episodes):
        seen, _ = self.venv.reset()  # planted: reset-has-other-parts
        # = seen = self.venv.reset()
        totals, finished = np.zeros(self.venv.num_envs), []
        while len(finished) < episodes:
            moves, _ = self.model.predict(seen, deterministic=True)
            seen, rewards, overs, _ = self.venv.step(moves)
            totals += rewards
            for lane in np.flatnonzero(overs):
                finished.append(totals[lane])
                totals[lane] = 0.0
        return np.mean(finished), np.std(finished)


if __name__ == "__main__":
    print(Watch("Acrobot-v1").train(50_000).scores(20))
