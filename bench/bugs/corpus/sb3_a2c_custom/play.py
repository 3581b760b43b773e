import numpy as np
import torch
from torch import nn
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv

from catcher import Catcher
from two_frames import TwoFrames

SEED = 11
N_ENVS = 16
TOTAL = 32_000


class Trunk(nn.Module):
    """Common first layer, then one layer each for the policy and the value."""

    def __init__(self, n_in, width):
        super().__init__()
        self.latent_dim_pi = self.latent_dim_vf = width
        self.common = nn.Sequential(nn.Linear(n_in, width), nn.ReLU())
        self.pi_side = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.vf_side = nn.Sequential(nn.Linear(width, width), nn.ReLU())

    def forward(self, features):
        h = self.common(features)
        return self.pi_side(h), self.vf_side(h)

    def forward_actor(self, features):
        return self.pi_side(self.common(features))

    def forward_critic(self, features):
        return self.vf_side(self.common(features))


class TrunkPolicy(ActorCriticPolicy):
    def __init__(self, *args, width=64, **kwargs):
        self.width = width
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self):
        self.mlp_extractor = Trunk(self.features_dim, self.width)


class ScoreBook(BaseCallback):
    """Books the returns of finished episodes, training and trials apart."""

    def __init__(self, trial_env, every):
        super().__init__()
        self.trial_env, self.every = trial_env, every
        self.book = {"train": [], "trial": []}
        self.rollouts = 0

    def note(self, infos, key):
        self.book[key] += [i["episode"]["r"] for i in infos if "episode" in i]

    def _on_step(self):
        self.note(self.locals["infos"], "train")
        return True

    def _on_rollout_end(self):
        self.rollouts += 1
        if self.rollouts % self.every:
            return
        obs, waiting = self.trial_env.reset(), np.ones(self.trial_env.num_envs, bool)
        while waiting.any():
            action, _ = self.model.predict(obs, deterministic=True)
            obs, _, dones, infos = self.trial_env.step(action)
            self.note([info for info, w in zip(infos, waiting) if w], "trial")
            waiting &= ~dones
        print(
            "after %6d steps: training %6.3f, trial %6.3f"
            % (self.num_timesteps, np.mean(self.book["train"][-60:]), np.mean(self.book["trial"][-self.trial_env.num_envs:]))
        )


def envs(n, seed):
    return TwoFrames(make_vec_env(Catcher, n_envs=n, seed=seed, vec_env_cls=DummyVecEnv))


def describe(venv):
    sample = TwoFrames(venv).observation_space
    return "frames of %d, shown to the agent as %d" % (venv.observation_space.shape[0], sample.shape[0])


def final_exam(model, n, seed):
    venv = envs(n, seed)
    obs, score, running = venv.reset(), np.zeros(n), np.ones(n, bool)
    while running.any():
        action, _ = model.predict(obs, deterministic=True)
        obs, reward, dones, _ = venv.step(action)
        score[running] += reward[running]
        running &= ~dones
    venv.close()
    return score


def run():
    torch.set_num_threads(1)
    venv = envs(N_ENVS, SEED)
    print(describe(venv.venv))
    model = A2C(
        TrunkPolicy,
        venv,
        n_steps=5,
        learning_rate=3e-3,
        gamma=0.95,
        gae_lambda=0.95,
        ent_coef=0.01,
        vf_coef=0.5,
        max_grad_norm=0.5,
        use_rms_prop=True,
        policy_kwargs={"width": 64},
        seed=SEED,
        device="cpu",
    )
    book = ScoreBook(envs(8, SEED + 77), every=60)
    model.learn(TOTAL, callback=book, log_interval=1000)
    score = final_exam(model, 24, SEED + 7777)
    print("episodes booked: %d in training, %d in trials" % (len(book.book["train"]), len(book.book["trial"])))
    print("exam score %.3f (worst %.0f, best %.0f)" % (score.mean(), score.min(), score.max()))


if __name__ == "__main__":
    run()
