"""Recurrent PPO on the T-maze.   python train.py --seed 3 --updates 60"""
import argparse
import random
from collections import deque

import numpy as np
import torch
from torch import nn

from net import MemoryNet
from rollout import Rollout, compute_gae
from tmaze import Pool, TMaze


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--updates", type=int, default=32)
    p.add_argument("--mazes", type=int, default=24)
    p.add_argument("--steps", type=int, default=32, help="steps per maze between two updates")
    p.add_argument("--span", type=int, default=8, help="length of the pieces that back-propagation goes through")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--parts", type=int, default=2)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--lam", type=float, default=0.95)
    p.add_argument("--clip", type=float, default=0.2)
    p.add_argument("--entropy", type=float, default=0.01)
    p.add_argument("--vf", type=float, default=0.5)
    p.add_argument("--grad-norm", type=float, default=0.5)
    return p.parse_args()


def collect(pool, net, roll, obs, carry, first, gamma):
    finished = []
    for t in range(roll.T):
        dist, value, after = net.one(obs, carry, first)
        action = dist.sample()
        roll.write(t, obs, carry, first, action, dist.log_prob(action), value)
        view, reward, done, cut, last_view, ended = pool.step(action.numpy())
        finished += ended
        carry = after.detach()
        reward = torch.from_numpy(reward)
        if cut.any():
            # the episode went on in principle: add what the net expects from where it was cut off
            with torch.no_grad():
                _, beyond, _ = net.one(torch.from_numpy(last_view), carry, torch.zeros(roll.N))
            reward = reward + gamma * beyond * torch.from_numpy(cut).float()
        roll.rewards[t] = reward
        obs = torch.from_numpy(view)
        first = torch.from_numpy(done | cut).float()
    with torch.no_grad():
        _, last_value, _ = net.one(obs, carry, first)
    return obs, carry, first, last_value, finished


def update(net, opt, roll, adv, returns, args):
    stats = []
    for _ in range(args.epochs):
        for b in roll.chunks(args.span, adv, returns, args.parts):
            dist, value, _ = net(b["obs"], b["carry"], b["first"])
            log_ratio = dist.log_prob(b["actions"]) - b["logp"]
            ratio = log_ratio.exp()
            a = (b["adv"] - b["adv"].mean()) / (b["adv"].std() + 1e-8)
            surrogate = torch.min(ratio * a, ratio.clamp(1 - args.clip, 1 + args.clip) * a).mean()
            value_error = (b["returns"] - value).pow(2).mean()
            spread = dist.entropy().mean()
            loss = -surrogate + args.vf * value_error - args.entropy * spread
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), args.grad_norm)
            opt.step()
            with torch.no_grad():
                stats.append([-surrogate.item(), value_error.item(), spread.item(), (ratio - 1 - log_ratio).mean().item()])
    return np.mean(stats, axis=0)


@torch.no_grad()
def evaluate(net, episodes, seed):
    maze, scores = TMaze(), []
    for k in range(episodes):
        view, _ = maze.reset(seed=seed + k)
        carry, first, total, over = net.blank(1), torch.ones(1), 0.0, False
        while not over:
            dist, _, carry = net.one(torch.from_numpy(view).unsqueeze(0), carry, first)
            view, reward, done, cut, _ = maze.step(dist.probs.argmax(-1).item())
            first = torch.zeros(1)
            total += reward
            over = done or cut
        scores.append(total)
    return float(np.mean(scores))


def main():
    args = options()
    torch.set_num_threads(1)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    pool = Pool(TMaze, args.mazes, seed=1000 * args.seed)
    net = MemoryNet(4, 3)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr, eps=1e-5)
    roll = Rollout(args.steps, args.mazes, 4, net.width)
    recent = deque(maxlen=100)

    obs = torch.from_numpy(pool.reset())
    carry, first = net.blank(args.mazes), torch.ones(args.mazes)
    for u in range(1, args.updates + 1):
        obs, carry, first, last_value, finished = collect(pool, net, roll, obs, carry, first, args.gamma)
        recent.extend(finished)
        adv, returns = compute_gae(roll.rewards, roll.values, roll.first, last_value, first, args.gamma, args.lam)
        pl, vl, ent, kl = update(net, opt, roll, adv, returns, args)
        if u % 8 == 0:
            print(f"update {u:3d}  return {np.mean(recent):6.3f}  pi {pl:7.4f}  v {vl:6.4f}  entropy {ent:5.3f}  kl {kl:6.4f}")

    print(f"return over 100 mazes: {evaluate(net, 100, seed=50_000 + args.seed):.3f}")


if __name__ == "__main__":
    main()
