"""SAC of Stable-Baselines3; a callback keeps the best model so far."""

import gymnasium as gym
import numpy as np
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, CheckpointCallback
from stable_baselines3.common.monitor import Monitor, load_results
from stable_baselines3.common.results_plotter import ts2xy


class KeepsTheBest(BaseCallback):
    def __init__(self, every, folder):
        super().__init__()
        self.every, self.folder = every, folder
        self.best = -np.inf

    def _on_step(self) -> bool:  # planted: callback-ends-training
    # = def _on_step(self) -> bool:
        if self.n_calls % self.every == 0:
            steps, returns = ts2xy(load_results(self.folder), "timesteps")
            if len(steps) and np.mean(returns[-20:]) > self.best:
                self.best = np.mean(returns[-20:])
                self.model.save(f"{self.folder}/best")
        # + return True


def main(folder="runs/pendulum"):
    env = Monitor(gym.make("Pendulum-v1"), folder)
    model = SAC("MlpPolicy", env, learning_starts=1000, seed=3)
    kept = CheckpointCallback(save_freq=10_000, save_path=folder)
    model.learn(60_000, callback=CallbackList([KeepsTheBest(1000, folder), kept]))
    model.save(f"{folder}/last")
    env.close()


if __name__ == "__main__":
    main()
