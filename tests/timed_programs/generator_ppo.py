"""PPO that counts frames: rollouts are dataclasses, minibatches come from a generator."""

import sys
from dataclasses import dataclass, field, fields

import gymnasium as gym
import numpy as np
import torch
from ledger import begin, belongs, cost, end
from torch import nn, optim
from torch.distributions import Normal


class Boat(gym.Env):
    def __init__(self):
        self.observation_space = gym.spaces.Box(-9, 9, (4,), np.float32)
        self.action_space = gym.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        with belongs("reset"):
            cost("reset")
            self.where = self.np_random.normal(size=4)
            self.age = 0
        return self.where.astype(np.float32), {}

    def step(self, action):
        with belongs("simulator"):
            cost("simulator")
            self.age += 1
            self.where[:2] += 0.1 * self.where[2:]
            self.where[2:] = 0.9 * self.where[2:] + 0.1 * np.asarray(action)
            self.where = np.clip(self.where, -9, 9)
        return self.where.astype(np.float32), -float(self.where @ self.where), False, self.age >= 80, {}


class Weight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, loss):
        return loss.clone()

    @staticmethod
    def backward(ctx, gradient):
        cost("backward")
        return gradient


class Brain(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean, self.value = nn.Linear(64, 2), nn.Linear(64, 1)
        self.log_std = nn.Parameter(torch.zeros(2))

    def policy_and_value(self, x):
        h = self.body(x)
        return Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)

    def forward(self, x):
        cost("loss" if torch.is_grad_enabled() else "acting")
        return self.policy_and_value(x)


class Slow(optim.Adam):
    def step(self, closure=None):
        cost("optimizer")
        return super().step(closure)


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    act: list = field(default_factory=list)
    logp: list = field(default_factory=list)
    value: list = field(default_factory=list)
    reward: list = field(default_factory=list)
    over: list = field(default_factory=list)

    def extend(self, **row):
        cost("buffer write")
        for name, each in row.items():
            getattr(self, name).append(each)

    def stacked(self):
        return {each.name: torch.stack(getattr(self, each.name)) for each in fields(self)}


@dataclass
class Samples:
    obs: torch.Tensor
    act: torch.Tensor
    logp: torch.Tensor
    adv: torch.Tensor
    ret: torch.Tensor

    def minibatches(self, epochs, size):
        for _ in range(epochs):
            order = torch.randperm(len(self.obs))
            for part in order.split(size):
                cost("buffer sample")
                yield Samples(*(getattr(self, each.name)[part] for each in fields(self)))


def estimate(rows, last, gamma=0.98, lam=0.9):
    cost("advantages")
    value = torch.cat([rows["value"], last[None]])
    delta = rows["reward"] + gamma * value[1:] * (1 - rows["over"]) - value[:-1]
    adv, acc = torch.zeros_like(delta), torch.zeros_like(last)
    t = len(delta)
    while t > 0:
        t -= 1
        acc = delta[t] + gamma * lam * (1 - rows["over"][t]) * acc
        adv[t] = acc
    return adv, adv + value[:-1]


def collect(fleet, brain, obs, length):
    rollout = Rollout()
    while len(rollout.obs) < length:
        with belongs("acting"), torch.no_grad():
            pi, value = brain(obs)
            act = pi.sample()
            logp = pi.log_prob(act).sum(-1)
        with belongs("copies"):
            array = act.numpy()
        with belongs("wrappers"):
            seen, reward, dead, cut, _ = fleet.step(array)
        with belongs("copies"):
            reward, over = torch.as_tensor(reward, dtype=torch.float32), torch.as_tensor(dead | cut).float()
            seen = torch.tensor(seen)
        with belongs("buffer write"):
            rollout.extend(obs=obs, act=act, logp=logp, value=value, reward=reward, over=over)
        obs = seen
    return rollout, obs


def surrogate(brain, some):
    pi, value = brain(some.obs)
    ratio = (pi.log_prob(some.act).sum(-1) - some.logp).exp()
    gain = torch.minimum(ratio * some.adv, ratio.clamp(0.8, 1.2) * some.adv)
    return Weight.apply(-gain.mean() + 0.5 * (value - some.ret).pow(2).mean() - 0.01 * pi.entropy().mean())


def report(frames, losses):
    cost("logging")
    print(f"{frames} frames, loss {torch.stack(losses).mean():.3f}", flush=True)


def main(total, boats=4, length=64):
    torch.manual_seed(2)
    fleet = gym.vector.SyncVectorEnv([Boat] * boats)
    brain = Brain()
    adam = Slow(brain.parameters(), lr=3e-4)
    obs = torch.tensor(fleet.reset(seed=2)[0])
    frames = 0
    begin()
    while frames < total:
        rollout, obs = collect(fleet, brain, obs, length)
        frames += boats * length
        with belongs("advantages"):
            rows = rollout.stacked()
            with torch.no_grad():
                last = brain.policy_and_value(obs)[1]
            adv, ret = estimate(rows, last)
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
            flat = Samples(*(x.flatten(0, 1) for x in (rows["obs"], rows["act"], rows["logp"], adv, ret)))
        losses = []
        batches = flat.minibatches(4, 64)
        while True:
            with belongs("buffer sample"):
                some = next(batches, None)
            if some is None:
                break
            with belongs("loss"):
                loss = surrogate(brain, some)
            with belongs("optimizer"):
                adam.zero_grad(set_to_none=True)
            with belongs("backward"):
                loss.backward()
            with belongs("optimizer"):
                nn.utils.clip_grad_norm_(brain.parameters(), 0.5)
                adam.step()
            losses.append(loss.detach())
        with belongs("logging"):
            report(frames, losses)
    end()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6000)
