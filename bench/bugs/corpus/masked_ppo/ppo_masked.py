"""PPO with a mask over the moves that are not allowed.

    python ppo_masked.py seed=3 total_steps=40000
"""
import sys
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor, nn

from noughts import NoughtsEnv

DEFAULTS = dict(seed=0, total_steps=24_576, n_envs=16, horizon=64, n_epochs=4, minibatch=256, lr=3e-3, gamma=1.0,
                gae_lambda=0.9, clip_eps=0.2, ent_coef=0.01, vf_coef=0.5, max_norm=0.5, hidden=64, eval_games=200)


def masked_log_probs(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities over the allowed moves; the others get a very large negative number."""
    return F.log_softmax(logits.masked_fill(~legal, -1e9), dim=-1)


def entropy_of(logp: Tensor, legal: Tensor) -> Tensor:
    return -(logp.exp() * logp).masked_fill(~legal, 0.0).sum(-1)


def gae(reward, value, done, next_value, gamma, lam):
    """All (horizon, n_envs); done[t] tells that the game ended with move t."""
    advantage, acc = torch.zeros_like(reward), torch.zeros_like(next_value)
    for t in range(len(reward) - 1, -1, -1):
        v_next = value[t + 1] if t + 1 < len(reward) else next_value
        keep = 1.0 - done[t]
        acc = reward[t] + gamma * keep * v_next - value[t] + gamma * lam * keep * acc
        advantage[t] = acc
    return advantage


class ActorCritic(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(18, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 9))
        self.critic = nn.Sequential(nn.Linear(18, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def policy(self, board, legal):
        return masked_log_probs(self.actor(board), legal)

    def act(self, board, legal, deterministic=False):
        logp = self.policy(board, legal)
        move = logp.argmax(-1) if deterministic else torch.multinomial(logp.exp(), 1).squeeze(-1)
        return move, logp.gather(-1, move.unsqueeze(-1)).squeeze(-1)

    def value(self, board):
        return self.critic(board).squeeze(-1)


def to_torch(obs):
    return torch.as_tensor(obs["board"]), torch.as_tensor(obs["legal"]).bool()


def ppo_loss(net, b, cfg):
    logp_all = net.policy(b.board, b.legal)
    logp = logp_all.gather(-1, b.move.unsqueeze(-1)).squeeze(-1)
    ratio = torch.exp(logp - b.logp)
    clipped = torch.clamp(ratio, 1.0 - cfg.clip_eps, 1.0 + cfg.clip_eps)
    policy_loss = torch.maximum(-b.adv * ratio, -b.adv * clipped).mean()
    value_loss = 0.5 * F.mse_loss(net.value(b.board), b.ret)
    entropy = entropy_of(logp_all, b.legal).mean()
    return policy_loss + cfg.vf_coef * value_loss - cfg.ent_coef * entropy, entropy


@torch.no_grad()
def play_games(net, n, seed):
    env = NoughtsEnv()
    results = {"won": 0, "drawn": 0, "lost": 0, "illegal": 0}
    for g in range(n):
        obs, _ = env.reset(seed=seed + g)
        over = False
        while not over:
            board, legal = to_torch(obs)
            move, _ = net.act(board, legal, deterministic=True)
            obs, _, over, _, info = env.step(int(move))
        results[info["outcome"]] += 1
    return results


def main(cfg):
    torch.set_num_threads(1)
    torch.manual_seed(cfg.seed)
    envs = SyncVectorEnv([NoughtsEnv for _ in range(cfg.n_envs)], autoreset_mode=AutoresetMode.SAME_STEP)
    net = ActorCritic(cfg.hidden)
    optim = torch.optim.Adam(net.parameters(), lr=cfg.lr)

    T, N = cfg.horizon, cfg.n_envs
    store = SimpleNamespace(board=torch.zeros(T, N, 18), legal=torch.zeros(T, N, 9, dtype=torch.bool),
                            move=torch.zeros(T, N, dtype=torch.long), logp=torch.zeros(T, N), value=torch.zeros(T, N),
                            reward=torch.zeros(T, N), done=torch.zeros(T, N))

    obs, _ = envs.reset(seed=cfg.seed)
    iterations = cfg.total_steps // (T * N)
    for it in range(iterations):
        optim.param_groups[0]["lr"] = cfg.lr * (1.0 - it / iterations)
        for t in range(T):
            board, legal = to_torch(obs)
            with torch.no_grad():
                move, logp = net.act(board, legal)
                value = net.value(board)
            store.board[t], store.legal[t] = board, legal
            store.move[t], store.logp[t], store.value[t] = move, logp, value
            obs, reward, terminated, truncated, _ = envs.step(move.numpy())
            store.reward[t] = torch.as_tensor(reward)
            store.done[t] = torch.as_tensor(terminated)     # a game is never cut short, truncated stays False
        with torch.no_grad():
            next_value = net.value(to_torch(obs)[0])
        adv = gae(store.reward, store.value, store.done, next_value, cfg.gamma, cfg.gae_lambda)
        ret = adv + store.value
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)

        flat = {k: v.flatten(0, 1) for k, v in vars(store).items()} | {"adv": adv.flatten(), "ret": ret.flatten()}
        for _ in range(cfg.n_epochs):
            for idx in torch.randperm(T * N).split(cfg.minibatch):
                loss, entropy = ppo_loss(net, SimpleNamespace(**{k: v[idx] for k, v in flat.items()}), cfg)
                optim.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), cfg.max_norm)
                optim.step()

        if (it + 1) % 6 == 0:
            mean_result = (store.reward.sum() / store.done.sum().clamp(min=1)).item()
            print(f"[{(it + 1) * T * N:6d}] result per game {mean_result:+.3f}   entropy {entropy.item():.3f}")
    envs.close()

    tally = play_games(net, cfg.eval_games, seed=100_000 + cfg.seed)
    print(tally)
    print(f"won minus lost: {(tally['won'] - tally['lost'] - tally['illegal']) / cfg.eval_games:+.3f}")


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    main(SimpleNamespace(**{k: type(v)(given.get(k, v)) for k, v in DEFAULTS.items()}))
