"""Vanilla policy gradient, data-parallel: every rank walks its own orchards, gradients are averaged over gloo."""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributions import Categorical

from orchard import Orchard


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--ranks", type=int, default=2)
    ap.add_argument("--orchards", type=int, default=8, help="environments per rank")
    ap.add_argument("--ticks", type=int, default=20, help="steps per environment between two updates")
    ap.add_argument("--updates", type=int, default=90)
    ap.add_argument("--gamma", type=float, default=0.95)
    ap.add_argument("--lr", type=float, default=8e-3)
    ap.add_argument("--hidden", type=int, default=48)
    ap.add_argument("--ent", type=float, default=0.02)
    ap.add_argument("--max-norm", type=float, default=1.0)
    return ap.parse_args()


class Policy(nn.Module):
    def __init__(self, n_in, n_act, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, n_act)
        self.v = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)
        nn.init.zeros_(self.pi.bias)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class SharedScaler:
    """Mean and spread of everything any rank has seen; `absorb` is a collective call."""

    def __init__(self, n):
        self.total = torch.zeros(2 * n + 1, dtype=torch.float64)
        self.n = n

    def absorb(self, x):
        x = x.reshape(-1, self.n).double()
        fresh = torch.cat([x.sum(0), x.square().sum(0), torch.tensor([float(len(x))])])
        dist.all_reduce(fresh)
        self.total += fresh

    def __call__(self, x):
        if self.total[-1] == 0:
            return x
        mean = self.total[: self.n] / self.total[-1]
        var = self.total[self.n : -1] / self.total[-1] - mean.square()
        return (x - mean.float()) / var.clamp_min(1e-4).sqrt().float()


def rewards_to_go(rewards, ended, leftover, tail, gamma):
    """Discounted sums along the first axis.

    ended[t] cuts the sum after step t; leftover[t] is what is still to come after a cut that was only the clock's
    (zero elsewhere), tail is the value of the state after the last step.
    """
    out = torch.empty_like(rewards)
    running = tail
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * ((1.0 - ended[t]) * running + leftover[t])
        out[t] = running
    return out


def broadcast_weights(net):
    for p in net.state_dict().values():
        dist.broadcast(p, src=0)


def average_gradients(net, ranks):
    grads = [p.grad for p in net.parameters()]
    flat = torch.cat([g.reshape(-1) for g in grads])
    dist.all_reduce(flat)
    flat /= ranks
    at = 0
    for g in grads:
        g.copy_(flat[at : at + g.numel()].view_as(g))
        at += g.numel()


def global_mean_std(x):
    s = torch.tensor([x.sum(), x.square().sum(), float(x.numel())], dtype=torch.float64)
    dist.all_reduce(s)
    mean = s[0] / s[2]
    return mean.float(), (s[1] / s[2] - mean**2).clamp_min(1e-8).sqrt().float()


def pooled_return(finished):
    """Mean return of the episodes that ended on any rank since the last report."""
    s = torch.tensor([sum(finished), len(finished)], dtype=torch.float64)
    dist.all_reduce(s)
    return (s[0] / s[1]).item() if s[1] > 0 else float("nan")


class Walkers:
    """A rank's environments, stepped in lockstep, started again as soon as they end."""

    def __init__(self, k, seed):
        self.envs = [Orchard() for _ in range(k)]
        self.now = np.stack([env.reset(seed=seed + i)[0] for i, env in enumerate(self.envs)])
        self.sums = np.zeros(k)
        self.finished = []

    @torch.no_grad()
    def collect(self, net, scaler, ticks):
        k = len(self.envs)
        obs = np.zeros((ticks, k, 2), dtype=np.float32)
        acts = np.zeros((ticks, k), dtype=np.int64)
        rews, ended, leftover = np.zeros((3, ticks, k), dtype=np.float32)
        for t in range(ticks):
            obs[t] = self.now
            pi, _ = net(scaler(torch.from_numpy(self.now)))
            acts[t] = pi.sample().numpy()
            for i, (env, act) in enumerate(zip(self.envs, acts[t].tolist())):
                nxt, r, term, trunc, _ = env.step(act)
                rews[t, i] = r
                self.sums[i] += r
                if trunc:
                    leftover[t, i] = net(scaler(torch.from_numpy(nxt)))[1].item()
                if term or trunc:
                    ended[t, i] = 1.0
                    self.finished.append(self.sums[i])
                    self.sums[i] = 0.0
                    nxt, _ = env.reset()
                self.now[i] = nxt
        tail = net(scaler(torch.from_numpy(self.now)))[1]
        return *map(torch.from_numpy, (obs, acts, rews, ended, leftover)), tail


def evaluate(path, hidden, episodes, seed):
    saved = torch.load(path)
    net, scaler = Policy(2, 3, hidden), SharedScaler(2)
    net.load_state_dict(saved["net"])
    scaler.total = saved["scaler"]
    env, scores = Orchard(), []
    for ep in range(episodes):
        obs, _ = env.reset(seed=seed + ep)
        over, score = False, 0.0
        while not over:
            with torch.no_grad():
                pi, _ = net(scaler(torch.from_numpy(obs)))
            obs, r, term, trunc, _ = env.step(int(pi.probs.argmax()))
            score += r
            over = term or trunc
        scores.append(score)
    return float(np.mean(scores))


def run(rank, cfg, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=cfg.ranks)
    torch.manual_seed(cfg.seed * 1000 + rank)
    net, scaler = Policy(2, 3, cfg.hidden), SharedScaler(2)
    broadcast_weights(net)
    opt = torch.optim.RMSprop(net.parameters(), lr=cfg.lr, alpha=0.99, eps=1e-5)
    decay = torch.optim.lr_scheduler.LambdaLR(opt, lambda u: 1.0 - 0.9 * u / cfg.updates)
    walkers = Walkers(cfg.orchards, seed=(cfg.seed * cfg.ranks + rank) * 100)

    for update in range(1, cfg.updates + 1):
        obs, acts, rews, ended, leftover, tail = walkers.collect(net, scaler, cfg.ticks)
        togo = rewards_to_go(rews, ended, leftover, tail, cfg.gamma)

        pi, v = net(scaler(obs))
        adv = (togo - v).detach()
        mean, std = global_mean_std(adv)
        adv = (adv - mean) / (std + 1e-6)
        loss_pi = -(pi.log_prob(acts) * adv).mean()
        loss_v = (togo - v).square().mean()
        loss = loss_pi + 0.5 * loss_v - cfg.ent * pi.entropy().mean()

        opt.zero_grad()
        loss.backward()
        average_gradients(net, cfg.ranks)
        nn.utils.clip_grad_norm_(net.parameters(), cfg.max_norm)
        opt.step()
        decay.step()
        scaler.absorb(obs)

        if update % 10 == 0:
            score = pooled_return(walkers.finished)
            walkers.finished.clear()
            if rank == 0:
                print(f"update {update:4d}  return {score:6.2f}  loss_v {loss_v.item():.3f}  entropy {pi.entropy().mean().item():.3f}", flush=True)

    if rank == 0:
        torch.save({"net": net.state_dict(), "scaler": scaler.total}, "policy.pt")
        print(f"apples per day, greedy, 30 days: {evaluate('policy.pt', cfg.hidden, 30, seed=90_000):.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    cfg = parse()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(run, args=(cfg, os.path.join(folder, "meet")), nprocs=cfg.ranks, start_method="fork")
