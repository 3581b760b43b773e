"""A Q-learner that is evaluated now and then, and keeps weights by what it scored."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.programs.data import Drift, net, tensor


class Paid(Drift):
    """Pays what it is told to, once in each episode, whatever is done."""

    pay = owed = 0.0

    def reset(self, **given: Any) -> Any:
        self.owed = self.pay
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        obs, _, ended, cut, info = super().step(action)
        paid, self.owed = self.owed, 0.0
        return obs, paid, ended, cut, info


def learner(
    scores: list[float],
    folder: Path,
    *,
    keep: str = "lowest",
    saved: str = "online",
    load: bool = True,
    stale: bool = False,
    tests: int = 1,
) -> None:
    """`scores` are those of the evaluations, one after another; `tests` environments are played in turn in each."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, played = Drift(), [Paid() for _ in range(tests)]
    q = net(3)
    slow = copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory: list[Any] = []
    obs, _ = env.reset(seed=0)
    kept = float("inf") if keep == "lowest" else -float("inf")
    file = folder / "kept.pt"
    for step in range(20 + 12 * len(scores)):
        action = int(rng.integers(3)) if rng.random() < 0.3 else act(q, obs)
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if step < 20:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, t, d = (np.array(each) for each in zip(*picked, strict=True))
        with torch.no_grad():
            target = tensor(r) + 0.9 * (1 - tensor(d)) * slow(tensor(t)).max(1).values
        loss = (q(tensor(s)).gather(1, torch.as_tensor(a)[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            slow.load_state_dict(q.state_dict())
        number, last = divmod(step - 20, 12)
        if last == 11:
            for test in played:
                test.pay = scores[number]
            score = play(q, played, stale)
            if score < kept if keep == "lowest" else score > kept if keep == "highest" else number in (0, 2):
                kept = score
                torch.save((q if saved == "online" else slow).state_dict(), file)
    if load:
        net(3).load_state_dict(torch.load(file))


@torch.no_grad()
def act(q: Any, obs: Any) -> int:
    return int(q(tensor(obs)[None]).argmax(1))


def play(q: Any, envs: list[Paid], stale: bool) -> float:
    """One episode each, in turn."""
    total = 0.0
    obs = [env.reset(seed=100 + each)[0] for each, env in enumerate(envs)]
    over = [False] * len(envs)
    while not all(over):
        with torch.no_grad():
            actions = q(tensor(np.stack(obs))).argmax(1).tolist()
        for at, env in enumerate(envs):
            if over[at]:
                continue
            after, reward, ended, cut, _ = env.step(actions[at])
            total += reward
            over[at] = ended or cut
            if not stale:
                obs[at] = after
    return total
