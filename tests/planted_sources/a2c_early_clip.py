"""Advantage actor-critic on Acrobot, one update per episode."""

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.distributions import Categorical

HORIZON, GAMMA, ROUNDS = 500, 0.99, 2000


class Swinger(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.moves = nn.Linear(64, 3)
        self.worth = nn.Linear(64, 1)

    def forward(self, joints):
        inner = self.trunk(joints)
        return Categorical(logits=self.moves(inner)), self.worth(inner).squeeze(-1)


def play(world, swinger):
    joints, _ = world.reset()
    seen, taken, paid = [], [], []
    for _ in range(HORIZON):
        now = torch.as_tensor(joints, dtype=torch.float32)
        with torch.no_grad():
            choice, _ = swinger(now)
        move = choice.sample()
        joints, gain, up, late, _ = world.step(move.item())
        seen.append(now)
        taken.append(move)
        paid.append(gain)
        if up or late:
            break
    return torch.stack(seen), torch.stack(taken), paid


def to_go(paid):
    later, sums = 0.0, []
    for gain in reversed(paid):
        later = gain + GAMMA * later
        sums.insert(0, later)
    return torch.tensor(sums)


def main():
    torch.manual_seed(3)
    world = gym.make("Acrobot-v1")
    swinger = Swinger()
    stepper = optim.Adam(swinger.parameters(), lr=7e-4)
    for _ in range(ROUNDS):
        seen, taken, paid = play(world, swinger)
        goals = to_go(paid)
        choice, worth = swinger(seen)
        better = (goals - worth).detach()
        cost = -(choice.log_prob(taken) * better).mean() + 0.5 * F.mse_loss(worth, goals)
        stepper.zero_grad()
        nn.utils.clip_grad_norm_(swinger.parameters(), 0.5)  # planted: clipped-before-backward
        cost.backward()
        # + nn.utils.clip_grad_norm_(swinger.parameters(), 0.5)
        stepper.step()


if __name__ == "__main__":
    main()
