"""A2C on pictures: what was seen is collected in Python lists and made into tensors for every update."""

import time
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F


class Settings(NamedTuple):
    envs: int = 16
    unroll: int = 20
    updates: int = 200
    gamma: float = 0.98
    lr: float = 7e-4


class Catch:
    """A ball falls, a paddle moves; the picture has 20 by 20 points. All boards are kept in arrays."""

    def __init__(self, boards, seed):
        self.boards, self.rng = boards, np.random.default_rng(seed)

    def _drop(self, which):
        self.row[which] = 0
        self.column[which] = self.rng.integers(0, 20, int(which.sum()))

    def reset(self):
        self.row, self.column = np.zeros((2, self.boards), dtype=np.int64)
        self.paddle = np.full(self.boards, 10)
        self._drop(np.ones(self.boards, dtype=bool))
        return self._picture()

    def _picture(self):
        picture = np.zeros((self.boards, 20, 20), dtype=np.float32)
        everyone = np.arange(self.boards)
        picture[everyone, self.row, self.column] = 1.0
        picture[everyone, 19, self.paddle] = 1.0
        return picture.reshape(self.boards, 400)

    def step(self, moves):
        self.paddle = np.clip(self.paddle + moves - 1, 0, 19)
        self.row += 1
        landed = self.row == 19
        reward = np.where(landed, np.where(self.paddle == self.column, 1.0, -1.0), 0.0)
        self._drop(landed)
        return self._picture(), reward.astype(np.float32), landed


def init(rng, *sizes):
    layers = []
    for n, m in zip(sizes, sizes[1:]):
        weight = torch.randn(n, m, generator=rng) / n**0.5
        layers += [weight.requires_grad_(), torch.zeros(m, requires_grad=True)]
    return layers


def apply(theta, x):
    w1, b1, w2, b2 = theta
    out = F.relu(x @ w1 + b1) @ w2 + b2
    return out[:, :3], out[:, 3]


def main(cfg=Settings()):
    rng = torch.Generator().manual_seed(7)
    torch.manual_seed(7)
    theta = init(rng, 400, 64, 4)
    opt = torch.optim.RMSprop(theta, lr=cfg.lr)
    game = Catch(cfg.envs, seed=7)
    began = time.perf_counter()
    frame = game.reset()
    for _ in range(cfg.updates):
        frames = torch.empty(cfg.unroll, cfg.envs, 400)
        moves = torch.empty(cfg.unroll, cfg.envs, dtype=torch.int64)
        rewards, ends = torch.empty(2, cfg.unroll, cfg.envs)
        for k in range(cfg.unroll):
            with torch.no_grad():
                logits, _ = apply(theta, torch.from_numpy(frame))
            move = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
            frames[k] = torch.from_numpy(frame)
            moves[k] = move
            frame, gained, landed = game.step(move.numpy())
            rewards[k] = torch.from_numpy(gained)
            ends[k] = torch.from_numpy(landed)
        inputs, chosen, alive = frames.view(-1, 400), moves, 1.0 - ends
        with torch.no_grad():
            tail = apply(theta, torch.from_numpy(frame))[1]
        goal = torch.empty_like(rewards)
        for k in reversed(range(cfg.unroll)):
            tail = rewards[k] + cfg.gamma * alive[k] * tail
            goal[k] = tail
        logits, estimate = apply(theta, inputs)
        gap = goal.view(-1) - estimate
        chosen_logp = logits.log_softmax(-1).gather(1, chosen.view(-1, 1)).squeeze(1)
        loss = 0.5 * gap.square().mean() - (chosen_logp * gap.detach()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.4f} seconds={time.perf_counter() - began:.3f}")


main()
