"""Actor-critic with an LSTM cell that is carried along, one environment, and a loss that is added up step by step."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

FAULTS = {
    "memory-kept-at-the-end": "BUF369",
    "likeliest-action": "ACT321",
    "probability-weighted": "POL394",
}

GAMMA, LENGTH, UPDATES, HIDDEN = 0.96, 20, 60, 16


class Doors:
    """A light in the first step says which of two doors is open. Actions: the doors, and on."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.RandomState(seed)

    def reset(self):
        self.open, self.place, self.steps = self.random.randint(2), 0, 0
        return self._seen()

    def _seen(self):
        light = (1.0 if self.open else -1.0) if self.steps == 0 else 0.0
        return np.array([light, self.place / 3.0, self.random.randn() * 0.2], dtype=np.float32)

    def step(self, action):
        self.steps += 1
        if action == 2:
            self.place = min(self.place + 1, 3)
        elif self.place == 3:
            return self._seen(), (1.0 if action == self.open else -1.0), True, {}
        return self._seen(), (0.05 if action == 2 else -0.1) - 0.02 * self.steps, self.steps >= 25, {}


class Brain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.intake, self.cell = nn.Linear(3, HIDDEN), nn.LSTMCell(HIDDEN, HIDDEN)
        self.policy, self.worth = nn.Linear(HIDDEN, 3), nn.Linear(HIDDEN, 1)

    def forward(self, seen, state):
        state = self.cell(torch.tanh(self.intake(seen)), state)
        return self.policy(state[0]), self.worth(state[0]), state


def empty():
    return torch.zeros(1, HIDDEN), torch.zeros(1, HIDDEN)


def program(fault: str = "") -> None:
    torch.manual_seed(3)
    env, brain = Doors(3), Brain()
    optimizer = torch.optim.Adam(brain.parameters(), lr=3e-3)
    seen, state = env.reset(), empty()
    for _ in range(UPDATES):
        turns = []
        state = tuple(each.detach() for each in state)
        for _ in range(LENGTH):
            logits, value, state = brain(torch.from_numpy(seen)[None], state)
            logps = logits.log_softmax(-1)
            action = torch.multinomial(logps.detach().exp(), 1).item()
            if fault == "likeliest-action":
                action = logps.argmax().item()
            scores = logps.exp() if fault == "probability-weighted" else logps
            seen, reward, done, _ = env.step(action)
            turns.append((scores[0, action], -(logps.exp() * logps).sum(), value.squeeze(), reward, done))
            if done:
                seen, state = env.reset(), (state if fault == "memory-kept-at-the-end" else empty())
        with torch.no_grad():
            target = brain(torch.from_numpy(seen)[None], state)[1].item()
        loss = entropy = 0.0
        for logp, spread, value, reward, done in reversed(turns):
            target = reward + GAMMA * target * (0.0 if done else 1.0)
            loss = loss - logp * (target - value).detach() + 0.5 * (target - value).pow(2)
            entropy = entropy + spread
        optimizer.zero_grad()
        ((loss - 0.01 * entropy) / LENGTH).backward()
        nn.utils.clip_grad_norm_(brain.parameters(), 1.0)
        optimizer.step()
