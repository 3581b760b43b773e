"""Networks that are given what another one gave, after a function of torch."""

import numpy as np
import torch
from torch import nn

from rldebug.capture.activated import Activated
from tests.watched import findings

ROWS = np.arange(5, 11)


def remembered(output):
    kept = Activated()
    kept.remember(output, ROWS)
    return kept


def test_an_activation_is_seen_through():
    output = torch.randn(6, 12)
    for bend in (torch.tanh, torch.relu, torch.sigmoid, lambda each: torch.cat([torch.tanh(each), each[:, :3] * 0], 1)):
        assert np.array_equal(remembered(output).find(bend(output)), ROWS)


def test_nothing_else_is():
    output = torch.randn(6, 12)
    for other in (torch.randn(6, 12), -output, output.flip(0), torch.zeros(6, 12), output[:, :3], torch.randn(4, 12)):
        assert remembered(output).find(other) is None


class Lanes:
    """Four walks of their own; one ends now and then."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def reset(self):
        self.at = self.rng.normal(size=2).astype(np.float32)
        return self.at.copy()

    def step(self, action):
        self.at = self.at * 0.9 + self.rng.normal(size=2).astype(np.float32)
        return self.at.copy(), float(action) - 0.5, bool(self.rng.random() < 0.2)


def remembering(*, emptied: bool, updates: int = 12) -> None:
    """A cell is stepped by hand, with gradients; the cell part of its state is emptied at ends, or not."""
    torch.manual_seed(0)
    features, cell, head = nn.Linear(2, 12), nn.LSTMCell(12, 12), nn.Linear(12, 2)
    parameters = [*features.parameters(), *cell.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    env = Lanes()
    obs, state = env.reset(), (torch.zeros(1, 12), torch.zeros(1, 12))
    for _ in range(updates):
        state, losses = tuple(each.detach() for each in state), []
        for _ in range(16):
            state = cell(torch.tanh(features(torch.tensor(obs)[None])), state)
            logp = torch.log_softmax(head(state[0]), -1)
            action = torch.multinomial(logp.exp(), 1)
            obs, reward, ended = env.step(int(action))
            losses.append(-logp.gather(1, action).mean() * reward)
            if ended:
                obs = env.reset()
                state = (state[0] * 0.0, state[1] * 0.0 if emptied else state[1])
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()


def test_a_state_that_is_half_emptied_is_named():
    assert [each.code for each in findings(lambda: remembering(emptied=False), "BUF369")] == ["BUF369"]


def test_one_that_is_emptied_is_not():
    assert not findings(lambda: remembering(emptied=True), "BUF369")
