"""Goal-conditioned DQN with hindsight goals ("future") on a panel of lamps."""
from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from panel import LightPanel

torch.set_num_threads(1)


@dataclass(frozen=True)
class Config:
    seed: int = 0
    cycles: int = 30
    episodes_per_cycle: int = 10
    updates_per_cycle: int = 40
    batch_size: int = 64
    hidden: int = 96
    lr: float = 1.5e-3
    gamma: float = 0.95
    tau: float = 0.05
    k_hindsight: int = 4
    capacity: int = 6_000
    eps_start: float = 1.0
    eps_end: float = 0.1
    eps_cycles: int = 20


@dataclass
class Step:
    obs: np.ndarray
    achieved: np.ndarray
    goal: np.ndarray
    action: int
    reward: float
    next_obs: np.ndarray
    next_achieved: np.ndarray
    solved: bool


@dataclass
class Store:
    capacity: int
    width: int
    head: int = 0
    filled: int = 0
    x: np.ndarray = field(init=False)
    x_next: np.ndarray = field(init=False)
    action: np.ndarray = field(init=False)
    reward: np.ndarray = field(init=False)
    solved: np.ndarray = field(init=False)

    def __post_init__(self):
        self.x = np.empty((self.capacity, self.width), np.float32)
        self.x_next = np.empty((self.capacity, self.width), np.float32)
        self.action = np.empty(self.capacity, np.int64)
        self.reward = np.empty(self.capacity, np.float32)
        self.solved = np.empty(self.capacity, np.bool_)


def put(store: Store, s: Step) -> None:
    at = store.head
    store.x[at] = np.concatenate([s.obs, s.goal])
    store.x_next[at] = np.concatenate([s.next_obs, s.goal])
    store.action[at] = s.action
    store.reward[at] = s.reward
    store.solved[at] = s.solved
    store.head = (at + 1) % store.capacity
    store.filled = min(store.filled + 1, store.capacity)


def draw_many(store: Store, n_batches: int, batch_size: int, rng: np.random.Generator) -> list[tuple[Tensor, ...]]:
    """All minibatches of one cycle in a single draw."""
    where = rng.integers(0, store.filled, size=(n_batches, batch_size))
    columns = (store.x, store.action, store.reward, store.x_next, store.solved)
    return [tuple(torch.from_numpy(c[rows]) for c in columns) for rows in where]


def build_net(n_lamps: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(2 * n_lamps, hidden), nn.ReLU(), nn.Linear(hidden, n_lamps))


def choose(net: nn.Module, obs: dict, epsilon: float, rng: np.random.Generator) -> int:
    if rng.random() < epsilon:
        return int(rng.integers(len(obs["observation"])))
    x = np.concatenate([obs["observation"], obs["desired_goal"]]).astype(np.float32)
    with torch.no_grad():
        return int(net(torch.from_numpy(x)).argmax())


def play(env: LightPanel, net: nn.Module, rng: np.random.Generator, epsilon: float = 0.0) -> list[Step]:
    steps: list[Step] = []
    obs, _ = env.reset()
    over = False
    while not over:
        action = choose(net, obs, epsilon, rng)
        nxt, reward, terminated, truncated, _ = env.step(action)
        steps.append(Step(obs["observation"], obs["achieved_goal"], obs["desired_goal"], action, reward,
                          nxt["observation"], nxt["achieved_goal"], terminated))
        obs = nxt
        over = terminated or truncated
    return steps


def hindsight(env: LightPanel, steps: list[Step], k: int, rng: np.random.Generator) -> list[Step]:
    """For every step, k copies whose goal is a pattern reached later in the same episode."""
    extra: list[Step] = []
    for t, s in enumerate(steps):
        for later in rng.integers(t, len(steps), size=k):
            goal = steps[later].next_achieved
            reward = float(env.compute_reward(s.next_achieved, goal))
            extra.append(Step(s.obs, s.achieved, goal, s.action, reward, s.next_obs, s.next_achieved, reward == 0.0))
    return extra


def bellman_target(target: nn.Module, reward: Tensor, x_next: Tensor, solved: Tensor, gamma: float) -> Tensor:
    with torch.no_grad():
        ahead = target(x_next).amax(dim=1)
        y = reward + gamma * ahead.masked_fill(solved, 0.0)
        return y.clamp(-1.5 / (1.0 - gamma), 0.0)


def update(net: nn.Module, target: nn.Module, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, ...], gamma: float) -> float:
    x, action, reward, x_next, solved = batch
    y = bellman_target(target, reward, x_next, solved, gamma)
    q = net(x).gather(1, action[:, None])[:, 0]
    loss = F.mse_loss(q, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


@torch.no_grad()
def polyak(target: nn.Module, net: nn.Module, tau: float) -> None:
    for slow, fast in zip(target.parameters(), net.parameters()):
        slow.lerp_(fast, tau)


def epsilon_at(cycle: int, cfg: Config) -> float:
    return max(cfg.eps_end, cfg.eps_start - (cycle + 1) / cfg.eps_cycles)


def success_rate(net: nn.Module, n_episodes: int, seed: int) -> float:
    env, rng = LightPanel(), np.random.default_rng(seed)
    env.reset(seed=seed)
    return float(np.mean([play(env, net, rng)[-1].solved for _ in range(n_episodes)]))


def train(cfg: Config) -> nn.Module:
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    env = LightPanel()
    env.reset(seed=cfg.seed)

    net, target = build_net(env.n_lamps, cfg.hidden), build_net(env.n_lamps, cfg.hidden)
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    store = Store(cfg.capacity, 2 * env.n_lamps)
    queue: list[tuple[Tensor, ...]] = []

    for cycle in range(cfg.cycles):
        epsilon = epsilon_at(cycle, cfg)
        solved = []
        for _ in range(cfg.episodes_per_cycle):
            steps = play(env, net, rng, epsilon=epsilon)
            solved.append(steps[-1].solved)
            for s in steps + hindsight(env, steps, cfg.k_hindsight, rng):
                put(store, s)
        losses = []
        for _ in range(cfg.updates_per_cycle):
            if not queue:
                queue = draw_many(store, cfg.updates_per_cycle, cfg.batch_size, rng)
            losses.append(update(net, target, optimizer, queue.pop(), cfg.gamma))
            polyak(target, net, cfg.tau)
        if (cycle + 1) % 5 == 0:
            print(f"cycle {cycle + 1:3d}  eps {epsilon:.2f}  solved {np.mean(solved):.2f}  loss {np.mean(losses):.4f}")
    return net


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cycles", type=int, default=Config.cycles)
    args = parser.parse_args()
    net = train(Config(seed=args.seed, cycles=args.cycles))
    print(f"success rate of the greedy policy: {success_rate(net, 100, seed=7777):.3f}")


if __name__ == "__main__":
    main()
