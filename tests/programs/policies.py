"""A policy gradient, clipped or step by step, with the mistake it is asked to make. What was seen of each is kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.run import Run
from rldebug.evidence.script import Script
from rldebug.finding import Finding
from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import watched


class WideDrift(Drift):
    def __init__(self, seed: int) -> None:
        super().__init__(seed, box=True)
        self.action_space = gym.spaces.Box(0.0, 1e6, (1,), np.float32)


class Agent:
    """How actions are drawn, and what their log-probs are in the loss."""

    def __init__(self, bug: str, numbers: bool) -> None:
        self.bug, self.numbers = bug, numbers
        self.policy = net(1) if numbers else net(3)
        self.scale = nn.Parameter(torch.full((1,), -0.6 if bug == "log-prob of the clipped" else 0.0))
        if not numbers:
            with torch.no_grad():
                [each for each in self.policy.modules() if isinstance(each, nn.Linear)][-1].weight.mul_(4)
        if bug in ("softmax in the network", "probabilities from the network"):
            self.policy = nn.Sequential(self.policy, nn.Softmax(-1))

    def parameters(self) -> list[nn.Parameter]:
        return [*self.policy.parameters(), *([self.scale] if self.numbers else [])]

    def dist(self, obs: Tensor, acting: bool) -> Any:
        out = self.policy(obs)
        if self.numbers:
            return Normal(out, self.scale.exp().expand_as(out))
        if self.bug == "softmax over rows":
            return Categorical(probs=out.softmax(0))
        if self.bug == "probabilities from the network":  # no bug
            return Categorical(probs=out)
        if self.bug == "softmax twice":
            return Categorical(logits=out.softmax(-1))
        return Categorical(logits=out / (3 if acting and self.bug == "temperature" else 1))

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Action, its log-prob, and what is given to the environment."""
        if self.bug.startswith("masked"):
            table = self.masked(obs)
            action = torch.multinomial(table.exp(), 1)[:, 0]
            return action, table.gather(1, action[:, None])[:, 0], action
        dist = self.dist(obs, True)
        if self.numbers:
            noise = torch.rand_like(dist.mean) if self.bug == "one side" else torch.randn_like(dist.mean)
            action = dist.mean + dist.stddev * noise * (3 if self.bug == "wide noise" else 1)
            logp = dist.log_prob(action.clamp(-1, 1) if self.bug == "log-prob of the clipped" else action).sum(-1)
            given = action.clamp(0, 1) if self.bug == "tiny range" else action.clamp(-1, 1)
            return (given if self.bug == "clipped stored" else action), logp, given
        if self.bug == "softmax of probabilities drawn":
            action = torch.multinomial(dist.probs.softmax(-1), 1)[:, 0]
        else:
            action = dist.probs.argmax(-1) if self.bug == "greedy" else dist.sample()
        return action, dist.log_prob(action), action

    def masked(self, obs: Tensor) -> Tensor:
        """Log-probs of three actions, of which some are forbidden by the observation."""
        allowed = torch.stack([obs[:, 0] < 0.3, obs[:, 0] > -9, obs[:, 1] < 0.3], 1)
        if self.bug == "masked by another row" and torch.is_grad_enabled():
            allowed = allowed.roll(1, 0)
        if self.bug == "masked too late":
            return self.policy(obs).log_softmax(-1).masked_fill(~allowed, -1e9)
        if self.bug == "masked by product":
            return (self.policy(obs) * allowed).log_softmax(-1)
        return self.policy(obs).masked_fill(~allowed, -1e9).log_softmax(-1)

    def logp(self, obs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """With the entropy."""
        if self.bug.startswith("masked"):
            table = self.masked(obs)
            return table.gather(1, action[:, None].long())[:, 0], -(table.exp() * table).sum(-1)
        dist = self.dist(obs, False)
        if self.numbers:
            return dist.log_prob(action).sum(-1), dist.entropy().sum(-1)
        return dist.log_prob(action), dist.entropy()


def ppo(bug: str = "", *, numbers: bool = False, phases: int = 5, lanes: int = 8, horizon: int = 16) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    made = (lambda seed: WideDrift(seed)) if bug == "tiny range" else (lambda seed: Drift(seed, box=numbers))
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: made(seed) for seed in range(lanes)], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
    )
    agent, critic, reference = Agent(bug, numbers), net(1), Agent(bug, numbers)
    optimizer = torch.optim.Adam([*agent.parameters(), *critic.parameters()], 3e-3)
    obs, _ = envs.reset()
    for _ in range(phases + 3 * (bug == "entropy drowns")):
        rows: list[Any] = []
        for step in range(horizon):
            with torch.no_grad():
                action, logp, given = agent.act(tensor(obs))
                unit = 1.5 if step and bug == "stored in other units" else 1.0
                rows.append([obs * unit, action, logp, critic(tensor(obs))[:, 0]])
            obs, reward, _, _, _ = envs.step(given.numpy())
            rows[-1].append(reward)
        data = [torch.stack([tensor(row[each]) for row in rows]).flatten(0, 1) for each in range(5)]
        for _ in range(3):
            for batch in np.array_split(rng.permutation(lanes * horizon), 2):
                loss = clipped_loss(bug, agent, critic, reference, [each[batch] for each in data])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def clipped_loss(bug: str, agent: Agent, critic: nn.Module, reference: Agent, rows: list[Tensor]) -> Tensor:
    s, a, logp, v, r = rows
    value = critic(s)[:, 0]
    raw = r - (value if bug == "attached" else v)
    advantage = (raw - raw.mean()) / (raw.std() + 1e-8)
    new, entropy = agent.logp(s, a)
    if bug == "around an average":  # of the last policies, which never acts: what PPO-EWMA does on purpose
        with torch.no_grad():
            for mine, own in zip(reference.parameters(), agent.parameters(), strict=True):
                mine.lerp_(own, 0.03)
            logp = reference.logp(s, a)[0]
    ratio = ((logp - new) if bug == "inverted" else (new - logp)).exp()
    bounds = {"clip around 0": (-0.2, 0.2), "one bound": (None, 1.05), "bound below": (-0.05, 1.05)}.get(
        bug, (0.95, 1.05)
    )
    weight = advantage[:, None] if bug == "pairs" else advantage
    kept = ratio.clamp(min=0.95).clamp(max=1.05) if bug == "bound by bound" else ratio.clamp(*bounds)
    plain, cut = ratio * weight, kept * weight
    if bug == "larger":
        gain = torch.max(plain, cut)
    elif bug == "dual clip":
        gain = torch.max(torch.min(plain, cut), 3 * weight)
    elif bug == "two advantages":
        gain = torch.min(ratio * raw, cut)
    elif bug == "no logarithm":
        gain = new.exp() * advantage
    elif bug == "mean log-prob":
        gain = new.mean() * advantage
    else:
        gain = torch.min(plain, cut)
    loss = -gain.mean()
    if bug == "value around 0":
        value = 3 * value
        loss = loss + torch.max((value - r) ** 2, (value.clamp(-0.1, 0.1) - r) ** 2).mean()
    elif bug == "value clipped":
        value, v = 3 * value, 3 * v
        loss = loss + torch.max((value - r) ** 2, (v + (value - v).clamp(-0.1, 0.1) - r) ** 2).mean()
    else:
        loss = loss + ((value[:, None] if bug == "value pairs" else value) - r).square().mean()
    if bug in ("divergence rewarded", "divergence", "log-ratio penalty"):
        with torch.no_grad():
            away = reference.logp(s, a)[0]
        d = away - new
        size = -d if bug == "log-ratio penalty" else d.exp() - d - 1
        return loss + (-0.1 if bug == "divergence rewarded" else 0.1) * size.mean()
    sizes = {"entropy added": 0.01, "entropy drowns": -3.0}
    return loss + sizes.get(bug, -0.01) * (entropy.sum() if bug == "entropy summed" else entropy.mean())


def stepwise(bug: str = "", *, days: int = 12, games: int = 6, length: int = 8) -> None:
    """REINFORCE on games played side by side, whose log-probs are collected step by step."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    policy = net(3)
    optimizer = torch.optim.Adam(policy.parameters(), 1e-2)
    for _ in range(days):
        x = rng.normal(size=(games, WIDTH))
        logps, entropies, rewards = [], [], []
        for _ in range(length):
            dist = Categorical(logits=policy(tensor(x)))
            action = dist.sample()
            logps.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            x = 0.9 * x + 0.3 * rng.normal(size=x.shape) + 0.1 * (action.numpy()[:, None] - 1)
            rewards.append(tensor(x[:, 0]))
        returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
        loss = torch.stack([-(each * weight).mean() for each, weight in zip(logps, returns, strict=True)]).mean()
        bonus = entropies[-1].mean() if bug == "last entropy" else torch.stack([e.mean() for e in entropies]).mean()
        optimizer.zero_grad()
        (loss - 0.01 * bonus).backward()
        optimizer.step()


def categorical(bug: str = "", *, steps: int = 40) -> None:
    """A distributional critic: rewards are 0, 1 or between, so that ends fall exactly on an atom."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, atoms, critic = Drift(limit=4), np.linspace(-1, 1, 9), net(9)
    optimizer = torch.optim.Adam(critic.parameters(), 1e-3)
    obs, _ = env.reset()
    memory: list[Any] = []
    for step in range(steps):
        after, _, terminated, truncated, _ = env.step(int(rng.integers(3)))
        ended = terminated or truncated
        memory.append((obs, float(rng.integers(2)) if ended else float(rng.random() - 0.5), ended))
        obs = env.reset()[0] if ended else after
        if step < 16:
            continue
        rows = [memory[each] for each in rng.integers(0, len(memory), 16)]
        target = np.zeros((16, 9))
        for row, (_, value, _) in enumerate(rows):
            place = (value + 1) / (atoms[1] - atoms[0])
            low, high = int(np.floor(place)), int(np.ceil(place))
            target[row, low] += high - place + (low == high and bug != "loses mass")
            target[row, high] += place - low
        loss = -(tensor(target) * critic(tensor([each[0] for each in rows])).log_softmax(-1)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@lru_cache(maxsize=64)
def seen(program: str, bug: str, numbers: bool) -> tuple[Run, Script]:
    programs = {
        "ppo": lambda: ppo(bug, numbers=numbers),
        "stepwise": lambda: stepwise(bug),
        "categorical": lambda: categorical(bug),
    }
    return watched(programs[program], overhead_budget=1.0)


def found(code: str, bug: str = "", *, numbers: bool = False, program: str = "ppo") -> list[Finding]:
    """What one rule says of one program."""
    report = diagnose([*seen(program, bug, numbers)], config=Config(select=(code,)), command="run")
    assert not report.broken, "\n".join(report.broken.values())
    return list(report.findings)
