"""A2C on Breakout in sixteen processes, with frames stacked."""

import gymnasium as gym
from stable_baselines3 import A2C
from stable_baselines3.common.atari_wrappers import AtariWrapper
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv, VecFrameStack


class Maker:
    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __call__(self) -> gym.Env:
        env = AtariWrapper(gym.make("BreakoutNoFrameskip-v4"))
        env.action_space.seed(self.rank)
        return env


def train(envs: VecEnv, steps: int = 10_000_000) -> None:
    model = A2C("CnnPolicy", envs, ent_coef=0.01, vf_coef=0.25, seed=1)
    model.learn(steps, callback=CheckpointCallback(500_000, "runs/breakout"))
    model.save("runs/breakout/last")
    envs.close()


makers = [Maker(rank) for rank in range(16)]
train(VecFrameStack(SubprocVecEnv(makers), n_stack=4))  # planted: workers-started-on-import
# = if __name__ == "__main__":
# =     train(VecFrameStack(SubprocVecEnv(makers), n_stack=4))
