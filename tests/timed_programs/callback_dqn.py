"""DQN with priorities: the memory draws, hands the batch to whom it is given, and keeps the errors that come back."""

import sys

import gymnasium as gym
import numpy as np
import torch
from gymnasium.envs.classic_control import CartPoleEnv
from ledger import begin, belongs, cost, end
from torch import nn


class Pole(CartPoleEnv):
    def reset(self, **options):
        with belongs("reset"):
            cost("reset")
            return super().reset(**options)

    def step(self, action):
        with belongs("simulator"):
            cost("simulator")
            return super().step(action)


class Shaped(gym.Wrapper):
    def step(self, action):
        obs, reward, dead, cut, info = self.env.step(action)
        cost("wrappers")
        return obs, reward - 0.1 * abs(obs[0]), dead, cut, info


class Pull(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        cost("backward")
        return g


class Slow(torch.optim.RMSprop):
    def step(self, closure=None):
        cost("optimizer")
        return super().step(closure)


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.v, self.a = nn.Linear(64, 1), nn.Linear(64, 2)

    def forward(self, x):
        h = self.trunk(x)
        a = self.a(h)
        return self.v(h) + a - a.mean(-1, keepdim=True)


class Prioritised:
    def __init__(self, room):
        self.room, self.rows = room, []
        self.weights = np.zeros(room)
        self.next = 0

    def __lshift__(self, row):
        cost("buffer write")
        if len(self.rows) < self.room:
            self.rows.append(row)
        else:
            self.rows[self.next] = row
        self.weights[self.next] = self.weights.max() or 1.0
        self.next = (self.next + 1) % self.room

    def replay(self, n, visit):
        with belongs("buffer sample"):
            cost("buffer sample")
            p = self.weights[: len(self.rows)] ** 0.6
            p /= p.sum()
            chosen = np.random.choice(len(p), n, p=p)
            importance = (len(p) * p[chosen]) ** -0.5
            columns = [np.array(each) for each in zip(*(self.rows[i] for i in chosen), strict=True)]
        errors = visit(columns, importance / importance.max())
        with belongs("buffer write"):
            self.weights[chosen] = np.abs(errors) + 1e-5


class Player:
    def __init__(self):
        self.q, self.old = Dueling(), Dueling()
        self.old.load_state_dict(self.q.state_dict())
        self.opt = Slow(self.q.parameters(), 5e-4)
        self.updates = 0

    def __call__(self, obs, epsilon):
        if np.random.rand() < epsilon:
            return np.random.randint(2)
        with belongs("copies"):
            x = torch.as_tensor(obs)
        with belongs("acting"), torch.inference_mode():
            cost("acting")
            best = self.q(x).argmax()
        with belongs("copies"):
            return best.item()

    def improve(self, columns, importance):
        with belongs("copies"):
            s, a, r, s2, dead = (torch.as_tensor(each) for each in columns)
            importance = torch.as_tensor(importance, dtype=torch.float32)
        with belongs("loss"):
            with torch.no_grad():
                best = self.q(s2).argmax(1, keepdim=True)
                cost("loss")
                y = r.float() + 0.98 * (~dead).float() * self.old(s2).gather(1, best).squeeze(1)
            error = y - self.q(s).gather(1, a[:, None]).squeeze(1)
            loss = Pull.apply((importance * error.square()).mean())
        with belongs("optimizer"):
            self.opt.zero_grad()
        with belongs("backward"):
            loss.backward()
        with belongs("optimizer"):
            self.opt.step()
        self.updates += 1
        if self.updates % 20 == 0:
            with belongs("target networks"):
                self.copy()
        with belongs("copies"):
            return error.detach().numpy()

    def copy(self):
        cost("target networks")
        for old, new in zip(self.old.parameters(), self.q.parameters(), strict=True):
            old.data.copy_(new.data)


def report(step, history):
    cost("logging")
    print(f"{step}: {np.mean(history[-10:]):.1f}", flush=True)


def main(steps):
    np.random.seed(8), torch.manual_seed(8)
    env = Shaped(gym.wrappers.TimeLimit(Pole(), 150))
    player, memory = Player(), Prioritised(2000)
    obs, _ = env.reset(seed=8)
    history, total, step = [], 0.0, 0
    begin()
    while step < steps:
        action = player(obs, max(0.1, 1 - step / 500))
        with belongs("wrappers"):
            new, reward, dead, cut, _ = env.step(action)
        with belongs("buffer write"):
            memory << (obs, action, reward, new, dead)
        obs = new
        total += reward
        if step >= 100:
            memory.replay(32, player.improve)
        if dead or cut:
            with belongs("reset"):
                obs, _ = env.reset()
            with belongs("logging"):
                history.append(total)
                report(step, history)
            total = 0.0
        step += 1
    end()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1200)
