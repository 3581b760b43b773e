"""Double DQN behind a stack of wrappers, with frames drawn while it trains and progress written down."""

import json
import os
import random
import sys
import tempfile
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from gymnasium import spaces
from gymnasium.wrappers import ClipReward, FlattenObservation, FrameStackObservation, TimeLimit
from torch.utils.tensorboard import SummaryWriter

tab = {"seconds": 0.0, "costs": {}, "parts": {}, "calls": {}}
clock = {"part": "other", "t": 0.0}


def hand_over(part):
    t = time.perf_counter()
    tab["parts"][clock["part"]] = tab["parts"].get(clock["part"], 0.0) + t - clock["t"]
    previous = clock["part"]
    clock["part"], clock["t"] = part, t
    return previous


def ponder(part, memo={}):  # noqa: B006
    tab["calls"][part] = tab["calls"].get(part, 0) + 1
    if part not in memo:
        memo[part] = float(os.environ.get("COST_" + "_".join(part.upper().split()), 0)) / 1e3
    if not memo[part]:
        return
    t = time.perf_counter()
    if os.environ["COST_KIND"] == "sleep":
        time.sleep(memo[part])
    elif os.environ["COST_KIND"] == "torch":
        x = torch.zeros(300_000 if memo[part] > 0.01 else 3_000)
        while time.perf_counter() - t < memo[part]:
            x.cos().exp().sum()
    else:
        while time.perf_counter() - t < memo[part]:
            _ = [i * i for i in range(20)]
    tab["costs"][part] = tab["costs"].get(part, 0.0) + time.perf_counter() - t


class Dots(gym.Env):
    """Catch falling dots. A screen of 5 by 4."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = spaces.Box(0, 1, (5, 4), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def _screen(self):
        screen = np.zeros((5, 4), np.float32)
        screen[self.row, self.column] = screen[4, self.paddle] = 1
        return screen

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        previous = hand_over("reset")
        ponder("reset")
        self.row, self.column, self.paddle = 0, int(self.np_random.integers(4)), 1
        screen = self._screen()
        hand_over(previous)
        return screen, {}

    def step(self, action):
        previous = hand_over("simulator")
        ponder("simulator")
        self.paddle = min(max(self.paddle + action - 1, 0), 3)
        self.row += 1
        reward = 0.0
        if caught := self.row == 4:
            reward = 2.0 if self.paddle == self.column else -2.0
            self.row, self.column = 0, int(self.np_random.integers(4))
        screen = self._screen()
        hand_over(previous)
        return screen, reward, False, False, {"caught": caught}

    def render(self):
        previous = hand_over("rendering")
        ponder("rendering")
        picture = np.kron(self._screen()[..., None], np.full((20, 20, 3), 255)).astype(np.uint8)
        hand_over(previous)
        return picture


class Grain(gym.ObservationWrapper):
    def observation(self, observation):
        ponder("wrappers")
        return (observation + np.random.normal(0, 0.01, observation.shape)).astype(np.float32)


class Gum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        ponder("backward")
        return g


class Weary(torch.optim.Adam):
    def step(self, closure=None):
        ponder("optimizer")
        return super().step(closure)


class Dueling(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.stem, self.adv, self.val = torch.nn.Linear(n, 64), torch.nn.Linear(64, 3), torch.nn.Linear(64, 1)

    def forward(self, x):
        ponder("acting" if clock["part"] == "acting" else "loss")
        h = F.relu(self.stem(x))
        adv = self.adv(h)
        return self.val(h) + adv - adv.mean(-1, keepdim=True)


def build():
    env = TimeLimit(Dots(render_mode="rgb_array"), 40)
    env = Grain(ClipReward(env, -1.0, 1.0))
    return FlattenObservation(FrameStackObservation(env, 2))


def td_loss(net, old, batch):
    s, a, r, s2 = batch
    with torch.no_grad():
        best = net(s2).argmax(-1, keepdim=True)
        goal = r + 0.9 * old(s2).gather(-1, best).squeeze(-1)
    return Gum.apply(F.huber_loss(net(s).gather(-1, a).squeeze(-1), goal))


def archive(columns, j, row):
    ponder("buffer write")
    for column, value in zip(columns, row, strict=True):
        column[j] = value


def some(columns, filled):
    ponder("buffer sample")
    k = torch.randint(0, filled, (64,))
    return tuple(column[k] for column in columns)


def announce(board, loss, i):
    ponder("logging")
    board.add_scalar("loss", loss.item(), i)


def renew(old, net):
    ponder("target networks")
    for mine, theirs in zip(old.state_dict().values(), net.state_dict().values(), strict=True):
        mine.copy_(theirs)


def main(n):
    torch.manual_seed(9), np.random.seed(9), random.seed(9)
    env = build()
    size = env.observation_space.shape[0]
    net, old = Dueling(size), Dueling(size)
    old.load_state_dict(net.state_dict())
    opt = Weary(net.parameters(), lr=5e-4)
    board = SummaryWriter(tempfile.mkdtemp())
    S, S2 = torch.zeros(4000, size), torch.zeros(4000, size)
    A, R = torch.zeros(4000, 1, dtype=torch.long), torch.zeros(4000)
    filled, film = 0, []
    s, _ = env.reset(seed=9)
    tab.update(costs={}, parts={})
    clock["t"] = t0 = time.perf_counter()
    for i in range(n):
        if random.random() < max(0.1, 1 - i / 500):
            a = random.randrange(3)
        else:
            hand_over("copies")
            x = torch.from_numpy(s)
            hand_over("acting")
            with torch.no_grad():
                q = net(x)
            hand_over("copies")
            a = q.argmax().item()
        hand_over("wrappers")
        s2, r, gone, cut, _ = env.step(a)
        hand_over("buffer write")
        archive((S, A, R, S2), filled % 4000, (torch.from_numpy(s), a, float(r), torch.from_numpy(s2)))
        filled = i + 1
        hand_over("other")
        s = s2
        if i % 20 == 0:
            hand_over("rendering")
            film.append(env.render())
            film = film[-3:]
            hand_over("other")
        if gone or cut:
            hand_over("wrappers")
            s, _ = env.reset()
            hand_over("other")
        if filled > 64 and i % 2 == 0:
            hand_over("buffer sample")
            batch = some((S, A, R, S2), min(filled, 4000))
            hand_over("loss")
            loss = td_loss(net, old, batch)
            hand_over("optimizer")
            opt.zero_grad()
            hand_over("backward")
            loss.backward()
            hand_over("optimizer")
            opt.step()
            hand_over("other")
            if i % 10 == 0:
                hand_over("logging")
                announce(board, loss, i)
                hand_over("other")
        if i % 100 == 0:
            hand_over("target networks")
            renew(old, net)
            hand_over("other")
    hand_over("other")
    tab["seconds"] = clock["t"] - t0
    board.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump(tab, file)
