"""PPO with an adaptive KL penalty and a diagonal Gaussian written out by hand."""
import math
import sys
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from greenhouse import Greenhouse
from norm import ObsNorm, RewardNorm

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

hp = SimpleNamespace(
    n_envs=8,
    horizon=48,
    iterations=12,
    epochs=6,
    minibatch=96,
    gamma=0.97,
    lam=0.95,
    clip=0.2,
    lr=2e-3,
    value_coef=0.5,
    entropy_coef=0.01,
    kl_target=0.02,
    max_grad_norm=0.5,
    hidden=48,
    seed=0,
)


# ---------------------------------------------------------------- Gaussian

def gauss_logp(x, mu, log_std):
    z = (x - mu) * torch.exp(-log_std)
    return (-0.5 * z * z - log_std - HALF_LOG_2PI).sum(dim=-1)


def gauss_entropy(log_std):
    return (log_std + 0.5 + HALF_LOG_2PI).sum(dim=-1)


def gauss_kl(mu_p, log_std_p, mu_q, log_std_q):
    """KL(p || q) of two diagonal Gaussians."""
    var_ratio = torch.exp(2.0 * (log_std_p - log_std_q))
    shift = ((mu_p - mu_q) * torch.exp(-log_std_q)) ** 2
    return (0.5 * (var_ratio + shift - 1.0) + log_std_q - log_std_p).sum(dim=-1)


def gauss_sample(mu, log_std):
    return mu + torch.exp(log_std) * torch.randn_like(mu)


# ---------------------------------------------------------------- networks

def make_nets(obs_dim, act_dim, hidden):
    def mlp(out, gain):
        layers = [nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out)]
        for layer in layers[::2]:
            nn.init.orthogonal_(layer.weight, math.sqrt(2.0))
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(layers[-1].weight, gain)
        return nn.Sequential(*layers)

    return nn.ModuleDict({"pi": mlp(act_dim, 0.01), "v": mlp(1, 1.0)}), nn.Parameter(torch.full((act_dim,), -0.5))


def head(nets, log_std, obs):
    mu = nets["pi"](obs)
    return mu, log_std.clamp(-3.0, 0.5).expand_as(mu)


def value(nets, obs):
    return nets["v"](obs).squeeze(-1)


# ---------------------------------------------------------------- data

def clip_to(space, action):
    return np.clip(action, space.low, space.high).astype(np.float32)


def collect(envs, raw, nets, log_std, obs_norm, rew_norm):
    """Returns a dict of time-major tensors (T, N, ...), the raw observations (T, N, D) and where the envs stand now."""
    keys = ("obs", "act", "logp", "mu", "log_std", "val", "rew", "done", "boot")
    roll = {k: [] for k in keys}
    seen = []
    for _ in range(hp.horizon):
        obs = torch.from_numpy(obs_norm(raw))
        with torch.no_grad():
            mu, ls = head(nets, log_std, obs)
            act = gauss_sample(mu, ls)
            logp = gauss_logp(act, mu, ls)
            val = value(nets, obs)
        rewards, dones, boots, following = [], [], [], []
        for env, a in zip(envs, act.numpy()):
            nxt, r, terminated, truncated, _ = env.step(clip_to(env.action_space, a))
            boot = 0.0
            if truncated and not terminated:
                with torch.no_grad():
                    boot = value(nets, torch.from_numpy(obs_norm(nxt))).item()
            if terminated or truncated:
                nxt, _ = env.reset()
            rewards.append(r)
            dones.append(float(terminated or truncated))
            boots.append(boot)
            following.append(nxt)
        rew, done = np.array(rewards), np.array(dones)
        scaled = rew_norm(rew, done)
        for k, v in zip(keys, (obs, act, logp, mu, ls, val, scaled, done, np.array(boots))):
            roll[k].append(torch.as_tensor(v, dtype=torch.float32))
        seen.append(raw)
        raw = np.stack(following)
    return {k: torch.stack(v) for k, v in roll.items()}, np.stack(seen), raw


def advantages(rew, val, done, boot, last_val, gamma, lam):
    """GAE over (T, N). boot holds the value of the cut-off state where a time limit ended the episode, else 0."""
    adv = torch.zeros_like(rew)
    running = torch.zeros_like(last_val)
    following = last_val
    for t in range(rew.shape[0] - 1, -1, -1):
        cont = 1.0 - done[t]
        delta = rew[t] + gamma * (cont * following + boot[t]) - val[t]
        running = delta + gamma * lam * cont * running
        adv[t] = running
        following = val[t]
    return adv


# ---------------------------------------------------------------- learning

def ppo_objective(nets, log_std, mb, beta):
    mu, ls = head(nets, log_std, mb["obs"])
    ratio = torch.exp(gauss_logp(mb["act"], mu, ls) - mb["logp"])
    adv = mb["adv"]
    surrogate = torch.minimum(ratio * adv, ratio.clamp(1.0 - hp.clip, 1.0 + hp.clip) * adv).mean()
    kl = gauss_kl(mb["mu"], mb["log_std"], mu, ls).mean()
    entropy = gauss_entropy(ls).mean()
    value_loss = torch.square(value(nets, mb["obs"]) - mb["ret"]).mean()
    loss = -surrogate + beta * kl - hp.entropy_coef * entropy + hp.value_coef * value_loss
    return loss, kl.detach()


def improve(nets, log_std, optimizer, batch, beta, rng):
    params = [*nets.parameters(), log_std]
    size = batch["obs"].shape[0]
    for _ in range(hp.epochs):
        order = torch.from_numpy(rng.permutation(size))
        kls = []
        for idx in order.split(hp.minibatch):
            mb = {k: v[idx] for k, v in batch.items()}
            mb["adv"] = (mb["adv"] - mb["adv"].mean()) / (mb["adv"].std() + 1e-8)
            loss, kl = ppo_objective(nets, log_std, mb, beta)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, hp.max_grad_norm)
            optimizer.step()
            kls.append(kl.item())
    mean_kl = float(np.mean(kls))
    if mean_kl > 1.5 * hp.kl_target:
        beta = min(beta * 2.0, 10.0)
    elif mean_kl < hp.kl_target / 1.5:
        beta = max(beta / 2.0, 1e-3)
    return beta, mean_kl


def evaluate(nets, obs_norm, episodes, seed):
    env = Greenhouse()
    totals = []
    for i in range(episodes):
        raw, _ = env.reset(seed=seed + i)
        total, over = 0.0, False
        while not over:
            with torch.no_grad():
                mu = nets["pi"](torch.from_numpy(obs_norm(raw)))
            raw, r, terminated, truncated, _ = env.step(clip_to(env.action_space, mu.numpy()))
            total += r
            over = terminated or truncated
        totals.append(total)
    return float(np.mean(totals))


def train():
    torch.set_num_threads(1)
    torch.manual_seed(hp.seed)
    rng = np.random.default_rng(hp.seed)
    envs = [Greenhouse() for _ in range(hp.n_envs)]
    raw = np.stack([env.reset(seed=hp.seed * 100 + i)[0] for i, env in enumerate(envs)])
    nets, log_std = make_nets(raw.shape[1], envs[0].action_space.shape[0], hp.hidden)
    optimizer = torch.optim.Adam([*nets.parameters(), log_std], lr=hp.lr)
    obs_norm, rew_norm = ObsNorm(raw.shape[1]), RewardNorm(hp.n_envs, hp.gamma)
    obs_norm.absorb(raw)
    beta = 0.1

    for it in range(hp.iterations):
        roll, seen, raw = collect(envs, raw, nets, log_std, obs_norm, rew_norm)
        with torch.no_grad():
            last_val = value(nets, torch.from_numpy(obs_norm(raw)))
        roll["adv"] = advantages(roll["rew"], roll["val"], roll["done"], roll["boot"], last_val, hp.gamma, hp.lam)
        roll["ret"] = roll["adv"] + roll["val"]
        batch = {k: roll[k].flatten(0, 1) for k in ("obs", "act", "logp", "mu", "log_std", "adv", "ret")}
        beta, kl = improve(nets, log_std, optimizer, batch, beta, rng)
        obs_norm.absorb(seen)
        if (it + 1) % 4 == 0:
            print(f"it {it + 1:3d}  kl {kl:.4f}  beta {beta:.4f}  std {log_std.exp().mean().item():.3f}")

    print(f"greenhouse, mean over 30 seasons: {evaluate(nets, obs_norm, 30, 5000 + hp.seed):.3f}")


if __name__ == "__main__":
    for item in sys.argv[1:]:
        key, text = item.split("=", 1)
        setattr(hp, key, type(getattr(hp, key))(text))
    train()
