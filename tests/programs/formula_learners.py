"""Small learners that make their targets as they are told: from rollouts, from whole episodes, from a replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.distributions import Categorical, Normal

from tests.forensics.simulated import Array, Rollout, gae

GAMMA = 0.97


class Wander(gym.Env[Any, Any]):
    """A point that drifts, and is paid for where it is. Ends by chance; no observation comes twice."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, seed: int = 0, limit: int = 12, signs: bool = False) -> None:
        self.rng, self.limit, self.signs = np.random.default_rng(seed), limit, signs

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.x, self.t = self.rng.normal(size=3), 0
        return self.x.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        self.x = 0.8 * self.x + 0.5 * self.rng.normal(size=3) + 0.1 * (float(np.ravel(action)[0]) - 0.5)
        self.t += 1
        ended = bool(self.rng.random() < 0.08)
        reward = float(np.sign(self.x[0]) * (abs(self.x[0]) > 0.5)) if self.signs else float(self.x[0])
        return self.x.astype(np.float32), reward, ended, self.t >= self.limit and not ended, {}


class Paid(Wander):
    """The same for each step, until time is up; the last element may tell the time."""

    clock = False

    def step(self, action: Any) -> Any:
        obs, _, _, _, info = super().step(action)
        if self.clock:
            obs[2] = self.t / self.limit
        return obs, 1.0, False, self.t >= self.limit, info


class PaidByTheClock(Paid):
    clock = True


def tensor(rows: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(rows, dtype=np.float32))


def empty(times: int, lanes: int) -> Rollout:
    """To be filled in."""
    no = np.zeros((times, lanes), dtype=bool)
    return Rollout(no * 1.0, np.zeros((times + 1, lanes)), no * 1.0, no, no.copy())


def rollouts(
    target: Callable[[Rollout], Array] | None = gae,
    weight: Callable[[Rollout], Array] | None = None,
    *,
    count: int = 4,
    length: int = 24,
    lanes: int = 4,
    sign: float = -1.0,
    world: Callable[[int], Wander] = Wander,
    rate: float = 0.01,
) -> None:
    """An actor-critic on a vector environment; without a target, a policy alone that learns from its weights."""
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: world(seed) for seed in range(lanes)],  # type: ignore[misc]
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
    )
    policy, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD([*policy.parameters(), *critic.parameters()], rate)
    obs, _ = envs.reset()
    for _ in range(count):
        seen, actions = [], []
        of = empty(length, lanes)
        for t in range(length):
            with torch.no_grad():
                action = Categorical(logits=policy(tensor(obs))).sample()  # type: ignore[no-untyped-call]
                of.value[t] = critic(tensor(obs)).flatten()
            seen.append(tensor(obs))
            actions.append(action)
            obs, of.reward[t], of.terminated[t], of.truncated[t], info = envs.step(action.numpy())
            for lane in np.flatnonzero(of.truncated[t]):
                with torch.no_grad():
                    of.final[t, lane] = critic(tensor(info["final_obs"][lane])[None])
        with torch.no_grad():
            of.value[length] = critic(tensor(obs)).flatten()
        made = np.zeros_like(of.reward) if target is None else target(of)
        weights = made - of.value[:-1] if weight is None else weight(of)
        flat = torch.cat(seen)
        dist = Categorical(logits=policy(flat))
        logp = dist.log_prob(torch.cat(actions))  # type: ignore[no-untyped-call]
        loss = sign * (logp * tensor(weights).flatten()).mean()
        if target is not None:
            loss = loss + 0.5 * ((critic(flat).flatten() - tensor(made).flatten()) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    envs.close()


def episodes(*, batches: int = 3, reset: bool = True, sign: float = -1.0, steps: int = 60) -> None:
    """REINFORCE, one log-prob after the other."""
    torch.manual_seed(0)
    env, policy = Wander(), nn.Linear(3, 2)
    optimizer = torch.optim.SGD(policy.parameters(), 0.01)
    for _ in range(batches):
        logps: list[Any] = []
        rewards: list[float] = []
        dones: list[bool] = []
        obs, _ = env.reset()
        done = False
        while len(rewards) < steps or not done:
            dist = Categorical(logits=policy(tensor(obs)[None]))
            action = dist.sample()  # type: ignore[no-untyped-call]
            logps.append(dist.log_prob(action))  # type: ignore[no-untyped-call]
            obs, reward, ended, cut, _ = env.step(int(action))
            done = ended or cut
            rewards.append(reward)
            dones.append(done)
            if done:
                obs, _ = env.reset()
        running, made = 0.0, []
        for reward, over in zip(reversed(rewards), reversed(dones), strict=True):
            running = reward + 0.9 * running * (not over if reset else 1)
            made.append(running)
        loss = (sign * torch.cat(logps) * tensor(made[::-1])).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def bootstrapped(of: Rollout, picked: NDArray[np.int64], said: dict[str, Array]) -> Array:
    """r + γ max Q, as it should be."""
    return np.asarray(of.reward[picked, 0] + GAMMA * ~of.terminated[picked, 0] * said["q0"].max(axis=1))


def replays(
    make: Callable[[Rollout, NDArray[np.int64], dict[str, Array]], Array] = bootstrapped,
    *,
    steps: int = 160,
    soft: bool = False,
    signs: bool = False,
) -> None:
    """A DQN; `soft`: two critics of state and action, and a Gaussian actor, whose log-prob is given to `make`."""
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    env = Wander(signs=signs)
    width, inputs = (1, 4) if soft else (2, 3)
    online, actor = nn.Linear(inputs, width), nn.Linear(3, 1)
    targets = [nn.Linear(inputs, width) for _ in range(2 if soft else 1)]
    optimizer = torch.optim.SGD(online.parameters(), 0.01)
    before, chosen, after = [], [], []
    of = empty(steps, 1)
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            said = actor(tensor(obs)[None]) if soft else online(tensor(obs)[None])
        action = float(said[0, 0] + draw.normal()) if soft else int(draw.integers(2))
        following, of.reward[step, 0], ended, cut, _ = env.step(action)
        of.terminated[step, 0], of.truncated[step, 0] = ended, cut
        before.append(obs)
        chosen.append(action)
        after.append(following)
        obs = env.reset()[0] if ended or cut else following
        if step < 60 or step % 4:
            continue
        picked = draw.integers(step + 1, size=48)
        now, next_ = tensor([before[at] for at in picked]), tensor([after[at] for at in picked])
        taken = tensor([chosen[at] for at in picked])[:, None]
        answers: dict[str, Array] = {}
        with torch.no_grad():
            if soft:
                dist = Normal(actor(next_), 0.5)
                drawn = dist.sample()  # type: ignore[no-untyped-call]
                answers["logp"] = dist.log_prob(drawn)[:, 0].numpy()  # type: ignore[no-untyped-call]
                next_ = torch.cat([next_, drawn], dim=1)
            for number, each in enumerate(targets):
                answers[f"q{number}"] = each(next_).numpy()
        aim = tensor(make(of, picked, answers))
        if soft:
            prediction = online(torch.cat([now, taken], dim=1))[:, 0]
        else:
            prediction = online(now).gather(1, taken.long())[:, 0]
        loss = nn.functional.smooth_l1_loss(prediction, aim)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
