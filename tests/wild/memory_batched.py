"""PPO with a memory in environments side by side, whose class of their own gives flags as floats; it is also tested."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAULTS = {
    "memory-runs-on-in-training": "NET512",
    "memory-kept-in-test": "EVA375",
    "old-observation-handed-on": "ENV514",
}

LANES, STEPS, ROUNDS, HIDDEN = 8, 24, 12, 16


class Recall:
    """A number is shown in the first step; it is to be named in the last."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.left, self.shown = int(self.rng.integers(3, 7)), int(self.rng.integers(2))
        self.begun = False
        return self._look()

    def _look(self):
        seen = self.rng.normal(0, 0.2, 4).astype(np.float32)
        if not self.begun:
            seen[self.shown] += 1.0
        seen[2] = self.left / 7
        return seen

    def step(self, action):
        self.begun = True
        self.left -= 1
        over = self.left == 0
        return self._look(), (1.0 if action == self.shown else -1.0) if over else 0.0, over


class Abreast:
    def __init__(self, fault: str) -> None:
        self.worlds, self.fault = [Recall(number) for number in range(LANES)], fault

    def reset(self):
        return np.stack([each.reset() for each in self.worlds])

    def step(self, actions):
        rows = []
        for world, action in zip(self.worlds, actions, strict=True):
            seen, reward, over = world.step(int(action))
            if over:
                begun = world.reset()
                seen = seen if self.fault == "old-observation-handed-on" else begun
            rows.append((seen, reward, over))
        seen, rewards, overs = zip(*rows, strict=True)
        return np.stack(seen), np.array(rewards, np.float32), np.array(overs, np.float32)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.cell = nn.Linear(4, HIDDEN), nn.GRUCell(HIDDEN, HIDDEN)
        self.policy, self.value = nn.Linear(HIDDEN, 2), nn.Linear(HIDDEN, 1)

    def forward(self, seen, memory):
        memory = self.cell(torch.tanh(self.encoder(seen)), memory)
        return self.policy(memory), self.value(memory).squeeze(-1), memory


@torch.no_grad()
def test(net: Net, fault: str) -> float:
    world, total = Recall(99), 0.0
    memory = torch.zeros(1, HIDDEN)
    for _ in range(8):
        if fault != "memory-kept-in-test":
            memory = torch.zeros(1, HIDDEN)
        seen, over = world.reset(), False
        while not over:
            logits, _, memory = net(torch.from_numpy(seen)[None], memory)
            seen, reward, over = world.step(int(logits.argmax(-1)))
            total += reward
    return total / 8


def program(fault: str = "") -> None:
    torch.manual_seed(0)
    worlds, net = Abreast(fault), Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    seen, first, memory = torch.from_numpy(worlds.reset()), torch.ones(LANES), torch.zeros(LANES, HIDDEN)
    for number in range(ROUNDS):
        kept, rows = memory, []
        for _ in range(STEPS):
            memory = memory * (1 - first)[:, None]
            with torch.no_grad():
                logits, value, memory = net(seen, memory)
            policy = Categorical(logits=logits)
            action = policy.sample()
            after, reward, over = worlds.step(action.numpy())
            rows.append((seen, first, action, policy.log_prob(action), value, torch.from_numpy(reward)))
            seen, first = torch.from_numpy(after), torch.from_numpy(over)
            rows[-1] = (*rows[-1], first)
        with torch.no_grad():
            following = net(seen, memory)[1]
        batch = [torch.stack(each) for each in zip(*rows, strict=True)]
        observed, begun, actions, old, values, rewards, ended = batch
        gain, carried = torch.zeros_like(rewards), torch.zeros(LANES)
        for t in reversed(range(STEPS)):
            carried = (
                rewards[t] + 0.97 * (1 - ended[t]) * following - values[t] + 0.97 * 0.95 * (1 - ended[t]) * carried
            )
            gain[t], following = carried, values[t]
        for _ in range(3):
            for lanes in torch.randperm(LANES).chunk(2):
                state, shown, scores, told = kept[lanes], observed[:, lanes], [], []
                for t in range(STEPS):
                    if fault != "memory-runs-on-in-training":
                        state = state * (1 - begun[t, lanes])[:, None]
                    logits, value, state = net(shown[t], state)
                    scores.append(logits)
                    told.append(value)
                ratio = (Categorical(logits=torch.stack(scores)).log_prob(actions[:, lanes]) - old[:, lanes]).exp()
                weight = (gain[:, lanes] - gain.mean()) / (gain.std() + 1e-8)
                pushed = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
                fit = (torch.stack(told) - (gain + values)[:, lanes]).pow(2).mean()
                optimizer.zero_grad()
                (0.5 * fit - pushed).backward()
                optimizer.step()
        if number % 4 == 3:
            test(net, fault)
