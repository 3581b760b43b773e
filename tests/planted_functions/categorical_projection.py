"""Projections of C51, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def cleanrl_like(next_pmfs, rewards, dones, atoms, v_min, v_max, n_atoms, gamma):
    next_atoms = rewards.reshape(-1, 1) + gamma * atoms * (1 - dones.reshape(-1, 1))
    delta_z = atoms[1] - atoms[0]
    tz = next_atoms.clamp(v_min, v_max)
    b = (tz - v_min) / delta_z
    lo = b.floor().clamp(0, n_atoms - 1)
    hi = b.ceil().clamp(0, n_atoms - 1)
    d_m_l = (hi + (lo == hi).float() - b) * next_pmfs
    d_m_u = (b - lo) * next_pmfs
    target_pmfs = torch.zeros_like(next_pmfs)
    for i in range(target_pmfs.size(0)):
        target_pmfs[i].index_add_(0, lo[i].long(), d_m_l[i])
        target_pmfs[i].index_add_(0, hi[i].long(), d_m_u[i])
    return target_pmfs


class Rainbow:
    @right()
    def kaixhin_like(self, returns_dist, rewards, nonterminals):
        pns_a = returns_dist
        Tz = rewards.unsqueeze(1) + nonterminals.unsqueeze(1) * (self.discount**self.n) * self.support.unsqueeze(0)
        Tz = Tz.clamp(min=self.Vmin, max=self.Vmax)
        b = (Tz - self.Vmin) / self.delta_z
        lo, hi = b.floor().to(torch.int64), b.ceil().to(torch.int64)
        lo[(hi > 0) * (lo == hi)] -= 1
        hi[(lo < (self.atoms - 1)) * (lo == hi)] += 1
        m = torch.zeros_like(pns_a)
        offset = torch.linspace(0, (len(m) - 1) * self.atoms, len(m)).unsqueeze(1).expand(len(m), self.atoms).to(lo)
        m.view(-1).index_add_(0, (lo + offset).view(-1), (pns_a * (hi.float() - b)).view(-1))
        m.view(-1).index_add_(0, (hi + offset).view(-1), (pns_a * (b - lo.float())).view(-1))
        return m


kaixhin_like = right(map={"next_probs": "returns_dist"})(Rainbow.kaixhin_like)


@right()
def loops(next_dist, rewards, dones, support, gamma):
    n = len(support)
    dz = support[1] - support[0]
    out = np.zeros((len(rewards), n))
    for i in range(len(rewards)):
        for j in range(n):
            z = rewards[i] + (0.0 if dones[i] else gamma * support[j])
            z = min(max(z, support[0]), support[-1])
            b = (z - support[0]) / dz
            low = int(np.floor(b + 1e-6))
            out[i, low] += next_dist[i][j] * (1 - (b - low))
            if low + 1 < n:
                out[i, low + 1] += next_dist[i][j] * (b - low)
    return out


@right()
def by_nearness(probs, r, d, z, gamma):
    moved = (r[:, None] + gamma * (1 - d[:, None]) * z).clamp(z[0], z[-1])
    near = (1 - (moved[:, :, None] - z).abs() / (z[1] - z[0])).clamp(min=0)
    return (near * probs[:, :, None]).sum(1)


@right()
def of_all_actions(next_dist, next_actions, rewards, dones, support, gamma):
    p = next_dist[torch.arange(len(rewards)), next_actions]
    moved = (rewards[:, None] + gamma * (1 - dones[:, None]) * support[None]).clamp(support[0], support[-1])
    b = (moved - support[0]) / (support[1] - support[0])
    low = b.floor().long()
    high = (low + 1).clamp(max=len(support) - 1)
    m = torch.zeros_like(p)
    m.scatter_add_(1, low, p * (1 - (b - low)))
    m.scatter_add_(1, high, p * (b - low))
    return m


@right()
def batch_of_it(batch, gamma, v_min, v_max):
    p, z = batch["next_probs"], np.linspace(v_min, v_max, batch["next_probs"].shape[1])
    out = np.zeros_like(p)
    for i, (reward, over) in enumerate(zip(batch["reward"], batch["terminated"], strict=True)):
        for prob, atom in zip(p[i], z, strict=True):
            to = np.clip(reward + gamma * atom * (1 - over), v_min, v_max)
            share = np.clip(1 - np.abs(to - z) / (z[1] - z[0]), 0, 1)
            out[i] += prob * share
    return out


# ── wrong ──


def _share(b, p, n):
    low = b.floor().long()
    high = (low + 1).clamp(max=n - 1)
    m = torch.zeros_like(p)
    m.scatter_add_(1, low, p * (1 - (b - low)))
    m.scatter_add_(1, high, p * (b - low))
    return m


def _placed(tz, z):
    return (tz.clamp(z[0], z[-1]) - z[0]) / (z[1] - z[0])


@wrong("categorical-projection-mass-lost")
def forgets_hits(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support)
    lo, hi = b.floor().long(), b.ceil().long()
    m = torch.zeros_like(next_probs)
    m.scatter_add_(1, lo, next_probs * (hi - b))
    m.scatter_add_(1, hi, next_probs * (b - lo))
    return m


@wrong("categorical-projection-mass-doubled")
def both_moved(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support)
    lo, hi = b.floor().long(), b.ceil().long()
    is_int = lo == hi
    lo = torch.where(is_int, (lo - 1).clamp(min=0), lo)
    hi = torch.where(is_int, (hi + 1).clamp(max=len(support) - 1), hi)
    m = torch.zeros_like(next_probs)
    m.scatter_add_(1, lo, next_probs * (hi - b))
    m.scatter_add_(1, hi, next_probs * (b - lo))
    return m


@wrong("categorical-projection-mask-missing")
def never_ends(next_dist, rewards, dones, z, gamma):
    return _share(_placed(rewards[:, None] + gamma * z, z), next_dist, len(z))


@wrong("categorical-projection-mask-inverted")
def only_at_the_end(next_dist, rewards, dones, z, gamma):
    return _share(_placed(rewards[:, None] + gamma * dones[:, None] * z, z), next_dist, len(z))


@wrong("categorical-projection-truncation-as-termination")
def limits_are_ends(next_dist, rewards, terminated, truncated, z, gamma):
    alive = (1 - torch.maximum(terminated, truncated)).unsqueeze(1)
    return _share(_placed(rewards[:, None] + gamma * alive * z, z), next_dist, len(z))


@wrong("categorical-projection-shares-swapped")
def shares_swapped(p_next, r, done, support, gamma):
    out = np.zeros_like(p_next)
    step = support[1] - support[0]
    for i in range(len(r)):
        for j, z in enumerate(support):
            b = (np.clip(r[i] + (1 - done[i]) * gamma * z, support[0], support[-1]) - support[0]) / step
            lo, hi = int(np.floor(b)), int(np.ceil(b))
            if lo == hi:
                out[i, lo] += p_next[i, j]
            else:
                out[i, lo] += p_next[i, j] * (b - lo)
                out[i, hi] += p_next[i, j] * (hi - b)
    return out


@wrong("categorical-projection-gamma-missing")
def undiscounted(next_dist, rewards, dones, z, gamma):
    return _share(_placed(rewards[:, None] + (1 - dones[:, None]) * z, z), next_dist, len(z))


@wrong("categorical-projection-reward-missing")
def for_nothing(next_dist, rewards, dones, z, gamma):
    tz = torch.zeros(len(rewards), 1) + gamma * (1 - dones[:, None]) * z
    return _share(_placed(tz, z), next_dist, len(z))


@wrong("categorical-projection-mask-on-reward")
def dropped_at_the_end(next_dist, rewards, dones, z, gamma):
    return _share(_placed((rewards[:, None] + gamma * z) * (1 - dones[:, None]), z), next_dist, len(z))


@wrong("categorical-projection-rounded")
def rounded(probs, reward, done, support, gamma):
    b = (np.clip(reward[:, None] + gamma * (1 - done[:, None]) * support, support[0], support[-1]) - support[0]) / (
        support[1] - support[0]
    )
    m = np.zeros_like(probs)
    for i in range(len(m)):
        np.add.at(m[i], np.round(b[i]).astype(int), probs[i])
    return m


@wrong("categorical-projection-step-wrong")
def one_interval_too_many(next_pmfs, rewards, dones, atoms, v_min, v_max, n_atoms, gamma):
    tz = (rewards.reshape(-1, 1) + gamma * atoms * (1 - dones.reshape(-1, 1))).clamp(v_min, v_max)
    b = (tz - v_min) / ((v_max - v_min) / n_atoms)
    lo = b.floor().clamp(0, n_atoms - 1)
    hi = b.ceil().clamp(0, n_atoms - 1)
    target = torch.zeros_like(next_pmfs)
    target.scatter_add_(1, lo.long(), (hi + (lo == hi).float() - b) * next_pmfs)
    target.scatter_add_(1, hi.long(), (b - lo) * next_pmfs)
    return target


@wrong("categorical-projection-not-moved")
def as_it_was(next_dist, rewards, dones, support, gamma):
    return next_dist.clone()


@wrong("categorical-projection-rows-mixed")
def into_the_first(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support)
    lo = b.floor().long()
    hi = (lo + 1).clamp(max=len(support) - 1)
    m = torch.zeros_like(next_probs)
    m.view(-1).index_add_(0, lo.view(-1), (next_probs * (1 - (b - lo))).view(-1))
    m.view(-1).index_add_(0, hi.view(-1), (next_probs * (b - lo)).view(-1))
    return m


@wrong("categorical-projection-gamma-not-to-the-n")
def forgets_n(next_probs, rewards, dones, support, gamma, n_step):
    return _share(_placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support), next_probs, len(support))


@wrong("categorical-projection-mask-missing", "categorical-projection-mass-lost")
def two_of_the_usual(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + gamma * support, support)
    lo, hi = b.floor().long(), b.ceil().long()
    m = torch.zeros_like(next_probs)
    m.scatter_add_(1, lo, next_probs * (hi - b))
    m.scatter_add_(1, hi, next_probs * (b - lo))
    return m


@wrong("categorical-projection-gamma-missing", "categorical-projection-rounded")
def rounded_and_undiscounted(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + (1 - dones[:, None]) * support, support)
    return torch.zeros_like(next_probs).scatter_add_(1, b.floor().long(), next_probs)


@wrong("categorical-projection-mismatch")
def turned_round(next_probs, rewards, dones, support, gamma):
    b = _placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support)
    return _share(b, next_probs, len(support)).flip(1)


@right()
def of_networks(current_model, target_model, next_state, reward, done, support, offset, args):
    next_dist = target_model(next_state)
    best = (next_dist * support).sum(2).max(1)[1]
    p = next_dist[torch.arange(len(reward)), best]
    tz = (reward[:, None] + args.gamma * support * (1 - done[:, None])).clamp(args.Vmin, args.Vmax)
    b = (tz - args.Vmin) / (float(args.Vmax - args.Vmin) / (args.num_atoms - 1))
    lo = b.floor().long()
    hi = (lo + 1).clamp(max=args.num_atoms - 1)
    m = torch.zeros_like(p)
    m.view(-1).index_add_(0, (lo + offset).view(-1), (p * (1 - (b - lo))).view(-1))
    m.view(-1).index_add_(0, (hi + offset).view(-1), (p * (b - lo)).view(-1))
    return m


@right()
def double_of_networks(online_net, target_net, next_obs, rewards, dones, support, gamma):
    best = (online_net(next_obs) * support).sum(-1).argmax(-1)
    p = target_net(next_obs)[range(len(rewards)), best]
    return _share(_placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support), p, len(support))


@wrong("categorical-projection-weighed-by-atoms")
def weighed(target_model, next_state, rewards, dones, support, gamma):
    next_dist = target_model(next_state) * support
    best = next_dist.sum(2).max(1)[1].unsqueeze(1).unsqueeze(1).expand(next_dist.size(0), 1, next_dist.size(2))
    p = next_dist.gather(1, best).squeeze(1)
    return _share(_placed(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support), p, len(support))


@right()
def dopamine_like(supports, weights, target_support):
    step = target_support[1] - target_support[0]
    clipped = supports.clamp(target_support[0], target_support[-1]).unsqueeze(1)
    near = 1 - (clipped - target_support.view(1, -1, 1)).abs() / step
    return (near.clamp(0, 1) * weights.unsqueeze(1)).sum(-1)


@wrong("categorical-projection-duplicates-lost")
def last_one_counts(next_dist, rewards, dones, support, gamma):
    n = next_dist.shape[1]
    tz = np.clip(rewards[:, None] + gamma * (1 - dones[:, None]) * support, support[0], support[-1])
    b = (tz - support[0]) / (support[1] - support[0])
    lo, hi = np.floor(b).astype(int), np.ceil(b).astype(int)
    rows = np.repeat(np.arange(len(rewards))[:, None], n, axis=1)
    m = np.zeros_like(next_dist)
    m[rows, lo] += next_dist * (hi + (lo == hi) - b)
    m[rows, hi] += next_dist * (b - lo)
    return m


@wrong("categorical-projection-atoms-not-clipped")
def indices_only(next_probs, rewards, dones, z, gamma):
    b = (rewards[:, None] + (1 - dones[:, None]) * gamma * z - z[0]) / (z[1] - z[0])
    lo = b.floor().clamp(0, len(z) - 1)
    hi = (lo + 1).clamp(0, len(z) - 1)
    m = torch.zeros_like(next_probs)
    m.scatter_add_(1, lo.long(), next_probs * (1 - (b - lo)))
    m.scatter_add_(1, hi.long(), next_probs * (b - lo))
    return m
