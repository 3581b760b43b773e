"""Small learners for the rules about data: a DQN, a PPO and a DDPG, each with the mistake it is asked to make."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.evidence.script import Script
from rldebug.finding import Finding
from rldebug.rule import Rule

WIDTH = 3


@cache
def seen(watched: Any, program: str, bug: str = "", **options: Any) -> Script:
    """What was seen of a program of this folder; each is run once for all tests."""
    from tests.programs import prepared

    run = globals().get(program) or getattr(prepared, program)
    script: Script = watched(lambda: run(bug, **options))[1]
    return script


def found(rule: Rule, script: Script) -> list[Finding]:
    return list(rule.check(script))


class Drift(gym.Env[Any, Any]):
    """A point that drifts; no observation comes twice. Ends by chance, and is cut off after `limit` steps."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (WIDTH,), np.float32)

    def __init__(self, seed: int = 0, limit: int = 15, box: bool = False, scale: tuple[float, ...] = (1, 1, 1)) -> None:
        self.action_space = gym.spaces.Box(-1, 1, (1,), np.float32) if box else gym.spaces.Discrete(3)
        self.rng = np.random.default_rng(seed)
        self.limit = limit
        self.scale = np.array(scale)
        self.array = np.zeros(WIDTH, np.float32)

    def _obs(self) -> Any:
        return (self.x * self.scale).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.x = self.rng.normal(size=WIDTH)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.x = 0.9 * self.x + 0.3 * self.rng.normal(size=WIDTH) + 0.1 * (np.ravel(action)[0] - 1)
        self.t += 1
        ended = bool(self.rng.random() < 0.04)
        return self._obs(), float(self.x[0]), ended, self.t >= self.limit and not ended, {}


class OneArray(Drift):
    """Hands out the same array every time, with other numbers in it."""

    def _obs(self) -> Any:
        self.array[:] = self.x
        return self.array


def net(outputs: int, width: int = WIDTH) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, outputs))


def tensor(rows: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(rows), dtype=torch.float32)


def dqn(bug: str = "", *, steps: int = 200, env: gym.Env[Any, Any] | None = None, scaled: float = 1.0) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = env or (OneArray() if bug == "one array" else Drift())
    q, slow = net(3), net(3)
    slow.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 1e-3)
    memory: list[Any] = []
    obs, _ = env.reset()
    acted_on = obs
    last = 0
    for step in range(steps):
        seen = acted_on if bug in ("first observation", "old observation") else obs
        with torch.no_grad():
            values = q(tensor(seen)[None] / (scaled if bug == "acting not scaled" else 1.0))
        action = int(rng.integers(3)) if rng.random() < 0.3 else int(values.argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        kept = {"late action": last, "other action": int(rng.integers(3))}.get(bug, action)
        last = action
        nxt = after
        if terminated or truncated:
            following, _ = env.reset()
            nxt = following if bug.startswith("next is reset") else after
        ended = terminated or (truncated and bug.endswith("masked"))
        row = (obs, kept, reward, obs if bug == "next is obs" else nxt, ended)
        if bug != "nothing new" or len(memory) < 60:
            memory.append(row if bug == "one array" else tuple(np.copy(each) for each in row))
        acted_on = obs if bug == "old observation" else acted_on
        obs = after
        if terminated or truncated:
            obs = acted_on = following
        if step < 30:
            continue
        pool = memory[-8:] if bug == "newest only" else memory[: len(memory) // 2] if bug == "older half" else memory
        rows = [pool[each] for each in rng.integers(0, len(pool), 32)]
        if bug == "ring" and step % 2:
            rows[:2] = [(*memory[-1][:3], memory[0][0], False)] * 2
        if bug == "drawn again":
            rows = [memory[each] for each in np.random.default_rng(7).integers(0, 30, 32)]
        if bug == "empty rows":
            rows[::2] = [(np.zeros(WIDTH, np.float32), 0, 0.0, np.zeros(WIDTH, np.float32), False)] * 16
        s, a, r, s2, end = (np.array(each) for each in zip(*rows, strict=True))
        if bug == "next shuffled":
            s2 = s2[rng.permutation(len(s2))]
        with torch.no_grad():
            target = tensor(r) + 0.9 * (1 - tensor(end)) * slow(tensor(s2) / scaled).max(1).values
        chosen = q(tensor(s) / scaled).gather(1, torch.as_tensor(a)[:, None].long())[:, 0]
        loss = nn.functional.mse_loss(chosen, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            slow.load_state_dict(q.state_dict())


def ppo(bug: str = "", *, phases: int = 5, lanes: int = 4, horizon: int = 24, replace: bool = False) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: Drift(seed) for seed in range(lanes)],
        autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP if "autoreset" in bug else gym.vector.AutoresetMode.SAME_STEP,
    )
    policy, critic = net(3), net(1)
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], 1e-3)
    obs, _ = envs.reset()
    kept: list[Any] = []
    over = np.zeros(lanes, dtype=bool)
    for _ in range(phases):
        rows: list[Any] = []
        for _ in range(horizon):
            with torch.no_grad():
                dist = Categorical(logits=policy(tensor(obs)))
                action = dist.sample()
                rows.append([obs.copy(), action, dist.log_prob(action), critic(tensor(obs))[:, 0]])
            obs, reward, ended, cut, _ = envs.step(action.numpy())
            rows[-1] += [reward, ~over if bug == "autoreset masked" else np.ones(lanes)]
            over = ended | cut
        kept = [*kept, *rows] if bug == "never cleared" else rows
        s, a, logp, v, r, counts = (torch.stack([tensor(row[each]) for row in kept]) for each in range(6))
        if bug == "late action":
            a = torch.roll(a, 1, 0)
        if bug == "lanes turned":
            a = torch.roll(a, 1, 1)
        advantage = r - v
        used = slice(None, -1) if bug == "last step" else slice(None)
        lane = slice(0, 1) if bug == "one lane" else slice(None)
        s, a, logp, advantage, target, counts = (
            x[used, lane].flatten(0, 1) for x in (s, a, logp, advantage, r, counts)
        )
        for _ in range(4):
            order = rng.integers(0, len(s), len(s)) if bug == "replacement" else rng.permutation(len(s))
            for batch in np.array_split(order, 4):
                new = Categorical(logits=policy(s[batch])).log_prob(a[batch])
                ratio = (new - logp[batch]).exp()
                gain = torch.min(ratio * advantage[batch], ratio.clamp(0.8, 1.2) * advantage[batch])
                error, counted = (critic(s[batch])[:, 0] - target[batch]) ** 2, counts[batch] > 0
                loss = error.mean() - gain.mean() if counted.all() else (error - gain)[counted].mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def ddpg(bug: str = "", *, steps: int = 120, random: int = 0) -> None:
    """`random`: the first steps, at which no network is asked."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift(box=True)
    actor, critic, slow = net(1), net(1, WIDTH + 1), net(1, WIDTH + 1)
    optimizers = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 1e-3)
    memory: deque[Any] = deque(maxlen=1000)
    obs, _ = env.reset()
    last = np.zeros(1, np.float32)
    for step in range(steps):
        if step < random:
            mean = rng.uniform(-1, 1, 1) * (2 if bug == "random too far" else 1)
            noisy = action = mean.astype(np.float32)
        else:
            with torch.no_grad():
                mean = torch.tanh(actor(tensor(obs)[None]))[0].numpy()
            noisy = mean + rng.normal(0, 0.6, 1)
            action = np.clip(noisy, -1, 1).astype(np.float32)
        given = {"scaled": 2 * action, "whole numbers": action.astype(int), "bang bang": np.sign(action)}.get(
            bug, action
        )
        after, reward, terminated, truncated, _ = env.step(given)
        kept = {"late action": last, "no noise": mean, "not clipped": noisy, "stretched": 2 * (action + 1)}.get(
            bug, action
        )
        last = action
        memory.append((obs, kept, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < max(30, random):
            continue
        rows = [memory[each] for each in rng.integers(0, len(memory), 32)]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            target = r + 0.9 * (1 - end) * slow(torch.cat([s2, torch.tanh(actor(s2))], 1))[:, 0]
        loss = ((critic(torch.cat([s, a], 1))[:, 0] - target) ** 2).mean()
        optimizers[1].zero_grad()
        loss.backward()
        optimizers[1].step()
        loss = -critic(torch.cat([s, torch.tanh(actor(s))], 1)).mean()
        optimizers[0].zero_grad()
        loss.backward()
        optimizers[0].step()
