import csv
import os
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from checkpoints import load_latest, save_checkpoint
from model import ActorCritic, ValueScale
from world import BuoyEnv
from wrappers import EpisodeStats, NormaliseObs, RunningStats, ScaleReward, StepLimit


@dataclass
class Config:
    seed: int = 0
    iterations: int = 36
    n_envs: int = 8
    horizon: int = 48
    episode_limit: int = 60
    reward_scale: float = 0.1
    lr: float = 4e-3
    gamma: float = 0.97
    lam: float = 0.95
    clip: float = 0.2
    epochs: int = 5
    batches: int = 3
    entropy_coef: float = 0.003
    value_coef: float = 0.5
    max_grad: float = 1.0
    save_every: int = 4
    folder: str = "runs"


def build_env(cfg: Config, stats: RunningStats, learn: bool) -> gym.Env:
    env = BuoyEnv()
    env = StepLimit(env, cfg.episode_limit)
    env = EpisodeStats(env)
    env = ScaleReward(env, cfg.reward_scale)
    return NormaliseObs(env, stats, learn)


def gae(rewards, values, next_values, terminated, ended, gamma, lam):
    """(T, N) each; next_values[t] belongs to the observation step t led to, before any reset."""
    out = torch.zeros_like(rewards)
    carry = torch.zeros(rewards.shape[1])
    for t in range(rewards.shape[0] - 1, -1, -1):
        delta = rewards[t] + gamma * next_values[t] * (1 - terminated[t]) - values[t]
        carry = delta + gamma * lam * (1 - ended[t]) * carry
        out[t] = carry
    return out


class Trainer:
    def __init__(self, cfg: Config, session: int) -> None:
        self.cfg = cfg
        self.obs_stats = RunningStats((3,))
        self.envs = [build_env(cfg, self.obs_stats, learn=True) for _ in range(cfg.n_envs)]
        self.net = ActorCritic(3, 1)
        self.scale = ValueScale()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.iteration = 0
        self.best = -float("inf")
        self.log_path = "progress.csv"
        if cfg.folder:
            os.makedirs(cfg.folder, exist_ok=True)
            self.log_path = os.path.join(cfg.folder, self.log_path)
        self.resume()
        base = 10_000 * cfg.seed + 1_000 * session
        self.obs = np.stack([env.reset(seed=base + i)[0] for i, env in enumerate(self.envs)])

    def resume(self) -> None:
        state = load_latest(self.cfg.folder)
        if state is None:
            print("starting afresh")
            return
        self.net.load_state_dict(state["net"])
        self.scale.load_state_dict(state["scale"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.obs_stats.restore(state["obs_stats"])
        self.iteration = state["iteration"]
        self.best = state["best"]
        print(f"resumed after iteration {self.iteration}")

    def save(self) -> None:
        save_checkpoint(self.cfg.folder, self.iteration, {
            "net": self.net.state_dict(), "scale": self.scale.state_dict(), "optimizer": self.optimizer.state_dict(),
            "obs_stats": self.obs_stats.state(), "iteration": self.iteration, "best": float(self.best)})

    def collect(self):
        T, N = self.cfg.horizon, self.cfg.n_envs
        seen, arrived = np.zeros((T, N, 3), np.float32), np.zeros((T, N, 3), np.float32)
        actions, logp = torch.zeros(T, N, 1), torch.zeros(T, N)
        rewards, terminated, ended = (np.zeros((T, N), np.float32) for _ in range(3))
        returns = []
        for t in range(T):
            seen[t] = self.obs
            actions[t], logp[t] = self.net.act(torch.from_numpy(self.obs))
            for i, (env, action) in enumerate(zip(self.envs, actions[t].numpy())):
                obs, rewards[t, i], over, cut, info = env.step(action)
                arrived[t, i] = obs
                terminated[t, i], ended[t, i] = over, over or cut
                if over or cut:
                    returns.append(info["episode"]["return"])
                    obs, _ = env.reset()
                self.obs[i] = obs
        data = {"obs": torch.from_numpy(seen), "actions": actions, "logp": logp, "rewards": torch.from_numpy(rewards),
                "terminated": torch.from_numpy(terminated), "ended": torch.from_numpy(ended)}
        with torch.no_grad():
            data["values"] = self.scale.denormalise(self.net.value(data["obs"]))
            data["next_values"] = self.scale.denormalise(self.net.value(torch.from_numpy(arrived)))
        return data, returns

    def update(self, d) -> dict[str, float]:
        cfg = self.cfg
        adv = gae(d["rewards"], d["values"], d["next_values"], d["terminated"], d["ended"], cfg.gamma, cfg.lam)
        returns = adv + d["values"]
        self.scale.update(returns)
        flat = {k: v.flatten(0, 1) for k, v in d.items()}
        flat["adv"] = ((adv - adv.mean()) / (adv.std() + 1e-8)).flatten()
        flat["target"] = self.scale.normalise(returns).flatten()
        flat["old_value"] = self.scale.normalise(d["values"]).flatten()
        losses = []
        for _ in range(cfg.epochs):
            for pick in torch.randperm(len(flat["adv"])).chunk(cfg.batches):
                b = {k: v[pick] for k, v in flat.items()}
                dist = self.net.policy(b["obs"])
                ratio = (dist.log_prob(b["actions"]).sum(-1) - b["logp"]).exp()
                actor = -torch.min(ratio * b["adv"], ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * b["adv"]).mean()
                value = self.net.value(b["obs"])
                bounded = b["old_value"] + (value - b["old_value"]).clamp(-cfg.clip, cfg.clip)
                critic = torch.max((value - b["target"]) ** 2, (bounded - b["target"]) ** 2).mean()
                loss = actor + cfg.value_coef * critic - cfg.entropy_coef * dist.entropy().sum(-1).mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), cfg.max_grad)
                self.optimizer.step()
                losses.append((actor.item(), critic.item()))
        actor, critic = np.mean(losses, axis=0)
        return {"actor": float(actor), "critic": float(critic)}

    def train(self, until: int) -> None:
        cfg = self.cfg
        with open(self.log_path, "a", newline="") as handle:
            log = csv.writer(handle)
            while self.iteration < until:
                for group in self.optimizer.param_groups:
                    group["lr"] = cfg.lr * (1.0 - 0.8 * self.iteration / cfg.iterations)
                data, returns = self.collect()
                losses = self.update(data)
                self.iteration += 1
                score = float(np.mean(returns)) if returns else None
                log.writerow([self.iteration, len(returns), score, losses["actor"], losses["critic"]])
                if returns:
                    self.best = max(self.best, score)
                if self.iteration % cfg.save_every == 0:
                    self.save()
                if self.iteration % 6 == 0:
                    print(f"iteration {self.iteration:3d}: {len(returns)} episodes, mean return {score}, critic loss {losses['critic']:.3f}")
        self.save()
