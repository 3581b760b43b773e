#!/usr/bin/env python
"""
Soft actor-critic in one file, automatic temperature.

The cluster kills jobs after a while, so training is cut into legs: each leg builds everything anew, picks up the
checkpoint of the leg before, trains for its share of the steps and writes the next checkpoint.

    python sac.py --env-id Ferry-v0 --total-timesteps 2000 --seed 1
"""
import argparse
import math
import os

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class Ferry(gym.Env):
    """A ferry crosses a stream that runs in the direction of +y and docks at the right bank.

    obs: position (x, y), velocity (vx, vy), vector to the dock; action: push of the two engines, each in [-2, 2].
    Docking and running aground both end the trip.
    """

    DOCK = np.array([0.7, 0.0])

    def __init__(self, stream: float = 0.03):
        self.stream = stream
        self.observation_space = gym.spaces.Box(-3.0, 3.0, (6,), np.float32)
        self.action_space = gym.spaces.Box(-2.0, 2.0, (2,), np.float32)

    def _observe(self):
        return np.concatenate([self.pos, self.vel * 4, self.DOCK - self.pos]).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.pos = np.array([-0.7, self.np_random.uniform(-0.6, 0.6)])
        self.vel = np.zeros(2)
        return self._observe(), {}

    def step(self, action):
        push = np.clip(action, -2.0, 2.0)
        before = np.linalg.norm(self.DOCK - self.pos)
        self.vel = 0.6 * self.vel + 0.06 * push
        self.pos = self.pos + self.vel + np.array([0.0, self.stream])
        after = np.linalg.norm(self.DOCK - self.pos)
        docked = bool(after < 0.2)
        aground = bool(np.abs(self.pos).max() > 1.0) and not docked
        reward = 2.0 * (before - after) - 0.05 + 2.0 * docked - 2.0 * aground
        return self._observe(), float(reward), docked or aground, False, {}


gym.register("Ferry-v0", entry_point=Ferry, max_episode_steps=40)


class TwinQ(nn.Module):
    """Both soft Q functions as one batched network; returns (2, batch)."""

    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        sizes = [obs_dim + act_dim, hidden, hidden, 1]
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
            bound = 1.0 / math.sqrt(fan_in)
            self.weights.append(nn.Parameter(torch.empty(2, fan_in, fan_out).uniform_(-bound, bound)))
            self.biases.append(nn.Parameter(torch.empty(2, 1, fan_out).uniform_(-bound, bound)))

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1).expand(2, -1, -1)
        for i, (w, b) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(b, x, w)
            if i < len(self.weights) - 1:
                x = torch.relu(x)
        return x.squeeze(-1)


class Policy(nn.Module):
    """Gaussian head. Actions are handled in [-1, 1] everywhere; only to_env() knows the bounds of the environment."""

    def __init__(self, obs_dim, space, hidden, kind="tanh_gaussian"):
        super().__init__()
        act_dim = int(np.prod(space.shape))
        self.kind = kind
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 2 * act_dim)
        self.register_buffer("scale", torch.tensor((space.high - space.low) / 2.0))
        self.register_buffer("offset", torch.tensor((space.high + space.low) / 2.0))

    def forward(self, obs):
        mu, log_std = self.head(self.body(obs)).chunk(2, dim=-1)
        return mu, log_std.clamp(-5.0, 1.0)

    def sample(self, obs):
        mu, log_std = self(obs)
        base = Normal(mu, log_std.exp())
        u = base.rsample()
        y = torch.tanh(u)
        logp = base.log_prob(u)
        if self.kind == "tanh_gaussian":
            logp = logp - torch.log(1.0 - y.pow(2) + 1e-6)
        return y, logp.sum(-1)

    def greedy(self, obs):
        return torch.tanh(self(obs)[0])

    def to_env(self, y):
        return (y * self.scale + self.offset).numpy()

    def from_env(self, action):
        return (torch.as_tensor(action) - self.offset) / self.scale


class Ring:
    def __init__(self, capacity, obs_dim, act_dim):
        self.data = {
            "obs": torch.zeros(capacity, obs_dim),
            "act": torch.zeros(capacity, act_dim),
            "rew": torch.zeros(capacity),
            "next": torch.zeros(capacity, obs_dim),
            "done": torch.zeros(capacity),
        }
        self.capacity, self.count = capacity, 0

    def push(self, obs, act, rew, nxt, done):
        i = self.count % self.capacity
        self.data["obs"][i] = torch.as_tensor(obs)
        self.data["act"][i] = act
        self.data["rew"][i] = rew
        self.data["next"][i] = torch.as_tensor(nxt)
        self.data["done"][i] = float(done)
        self.count += 1

    def draw(self, n):
        idx = torch.randint(0, min(self.count, self.capacity), (n,))
        return {k: v[idx] for k, v in self.data.items()}


class Learner(nn.Module):
    def __init__(self, obs_dim, space, args):
        super().__init__()
        act_dim = int(np.prod(space.shape))
        self.args = args
        self.policy = Policy(obs_dim, space, args.hidden)
        self.q = TwinQ(obs_dim, act_dim, args.hidden)
        self.q_target = TwinQ(obs_dim, act_dim, args.hidden).requires_grad_(False)
        self.q_target.load_state_dict(self.q.state_dict())
        self.log_alpha = nn.Parameter(torch.tensor(math.log(args.alpha)))
        self.target_entropy = -float(act_dim)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=args.q_lr)
        self.pi_opt = torch.optim.Adam(self.policy.parameters(), lr=args.policy_lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=args.alpha_lr)

    def soft_target(self, b):
        with torch.no_grad():
            act, logp = self.policy.sample(b["next"])
            soft_v = self.q_target(b["next"], act).min(dim=0).values - self.log_alpha.exp() * logp
            return b["rew"] + self.args.gamma * (1.0 - b["done"]) * soft_v

    def update(self, b):
        q_loss = 0.5 * (self.q(b["obs"], b["act"]) - self.soft_target(b)).pow(2).mean(dim=1).sum()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        act, logp = self.policy.sample(b["obs"])
        q_pi = self.q(b["obs"], act).min(dim=0).values
        alpha = self.log_alpha.exp()
        pi_loss = (alpha.detach() * logp - q_pi).mean()
        alpha_loss = -(alpha * (logp.detach() + self.target_entropy)).mean()
        self.pi_opt.zero_grad()
        self.alpha_opt.zero_grad()
        (pi_loss + alpha_loss).backward()
        self.pi_opt.step()
        self.alpha_opt.step()

        with torch.no_grad():
            for p, t in zip(self.q.parameters(), self.q_target.parameters()):
                t.lerp_(p, self.args.tau)
        return q_loss.item(), -logp.mean().item()

    def optimizers(self):
        return [self.q_opt, self.pi_opt, self.alpha_opt]


def save(path, learner, ring, step):
    torch.save(
        {
            "nets": learner.state_dict(),
            "opts": [o.state_dict() for o in learner.optimizers()],
            "ring": ring.data,
            "count": ring.count,
            "step": step,
        },
        path,
    )


def load(path, learner, ring):
    ckpt = torch.load(path, weights_only=True)
    learner.load_state_dict(ckpt["nets"])
    for opt, state in zip(learner.optimizers(), ckpt["opts"]):
        opt.load_state_dict(state)
    ring.data, ring.count = ckpt["ring"], ckpt["count"]
    return ckpt["step"]


@torch.no_grad()
def evaluate(policy, env_id, episodes, seed):
    env = gym.make(env_id)
    returns = []
    for k in range(episodes):
        obs, _ = env.reset(seed=seed + k)
        total, over = 0.0, False
        while not over:
            obs, rew, term, trunc, _ = env.step(policy.to_env(policy.greedy(torch.as_tensor(obs))))
            total += float(rew)
            over = term or trunc
        returns.append(total)
    env.close()
    return sum(returns) / len(returns)


def run_leg(leg, args):
    env = gym.make(args.env_id)
    env.action_space.seed(args.seed + leg)
    obs_dim = env.observation_space.shape[0]
    learner = Learner(obs_dim, env.action_space, args)
    ring = Ring(args.buffer_size, obs_dim, env.action_space.shape[0])
    step = load(args.checkpoint, learner, ring) if leg > 0 else 0
    last = args.total_timesteps * (leg + 1) // args.legs

    obs, _ = env.reset(seed=args.seed + 100 * leg)
    while step < last:
        if step < args.learning_starts:
            act = learner.policy.from_env(env.action_space.sample())
        else:
            with torch.no_grad():
                act, _ = learner.policy.sample(torch.as_tensor(obs))
        nxt, rew, term, trunc, _ = env.step(learner.policy.to_env(act))
        ring.push(obs, act, rew, nxt, term)
        obs = env.reset()[0] if term or trunc else nxt
        step += 1
        if step >= args.learning_starts and step % args.update_every == 0:
            q_loss, entropy = learner.update(ring.draw(args.batch_size))
            if step % 400 == 0:
                print(f"[leg {leg}] {step:6d} q_loss={q_loss:.4f} H={entropy:+.3f} alpha={learner.log_alpha.exp().item():.4f}")
    env.close()
    save(args.checkpoint, learner, ring, step)
    return learner


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--env-id", default="Ferry-v0")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--total-timesteps", type=int, default=2000)
    p.add_argument("--legs", type=int, default=2)
    p.add_argument("--learning-starts", type=int, default=400)
    p.add_argument("--update-every", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--buffer-size", type=int, default=10000)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--tau", type=float, default=0.02)
    p.add_argument("--q-lr", type=float, default=2e-3)
    p.add_argument("--policy-lr", type=float, default=1e-3)
    p.add_argument("--alpha-lr", type=float, default=3e-3)
    p.add_argument("--alpha", type=float, default=0.2)
    p.add_argument("--checkpoint", default="sac_ckpt.pt")
    return p.parse_args()


if __name__ == "__main__":
    args = parse_args()
    torch.set_num_threads(1)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    if os.path.exists(args.checkpoint):
        os.remove(args.checkpoint)
    for leg in range(args.legs):
        learner = run_leg(leg, args)
    print(f"evaluation over 20 episodes: {evaluate(learner.policy, args.env_id, 20, 10_000 + args.seed):.3f}")
