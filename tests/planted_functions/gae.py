"""Generalised advantage estimation, as people write it."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

GAMMA = 0.97
LAMBDA = 0.9


# ── sound ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@right()
def cleanrl_like(rewards, values, dones, next_value, next_done, gamma, gae_lambda):
    steps = len(rewards)
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(steps)):
        if t == steps - 1:
            nextnonterminal = 1.0 - next_done
            nextvalues = next_value
        else:
            nextnonterminal = 1.0 - dones[t + 1]
            nextvalues = values[t + 1]
        delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]
        advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
    return advantages, advantages + values


@right()
def filter_of_one_path(rew, val, last_val, gamma, lam):
    """Spinning Up computes one path at a time, with the discounted sum of a filter."""
    val = np.append(val, last_val)
    deltas = rew + gamma * val[1:] - val[:-1]
    out = np.zeros(len(deltas))
    total = 0.0
    for i, delta in enumerate(deltas[::-1]):
        total = delta + gamma * lam * total
        out[len(out) - 1 - i] = total
    return out


@right()
def masks_of_the_next(rewards, value_preds, masks, next_value, use_gae=True, gamma=0.99, gae_lambda=0.95):
    """One mask more than rewards: masks[t + 1] is 0 where step t ended an episode."""
    value_preds = torch.cat([value_preds, next_value.unsqueeze(0)])
    gae, returns = 0, torch.zeros_like(rewards)
    for step in reversed(range(rewards.size(0))):
        delta = rewards[step] + gamma * value_preds[step + 1] * masks[step + 1] - value_preds[step]
        gae = delta + gamma * gae_lambda * masks[step + 1] * gae
        returns[step] = gae + value_preds[step]
    return returns


@right()
def both_flags(reward, value, next_value, terminated, truncated, gamma: float, lmbda: float):
    not_over = (~terminated).float()
    keep = (~(terminated | truncated)).float()
    delta = reward + gamma * next_value * not_over - value
    advantage = torch.empty_like(delta)
    running = torch.zeros_like(delta[-1])
    for t in range(delta.shape[0] - 1, -1, -1):
        running = delta[t] + gamma * lmbda * keep[t] * running
        advantage[t] = running
    return {"advantages": advantage, "returns": advantage + value}


@right()
def batch_first(r, v, d, v_last, gamma=0.99, lam=0.95):
    """(B, T), as some recurrent codebases keep it."""
    horizon = r.shape[1]
    adv = np.zeros_like(r)
    carry = np.zeros(r.shape[0])
    following = v_last
    for k in range(horizon - 1, -1, -1):
        delta = r[:, k] + gamma * following * (1 - d[:, k]) - v[:, k]
        carry = delta + gamma * lam * (1 - d[:, k]) * carry
        adv[:, k] = carry
        following = v[:, k]
    return adv


@right()
def plain_lists(rewards: list, values: list, dones: list, last_value: float):
    """Settings are globals, numbers are floats."""
    advantages = []
    gae = 0.0
    values = [*values, last_value]
    for i in reversed(range(len(rewards))):
        if dones[i]:
            delta = rewards[i] - values[i]
            gae = delta
        else:
            delta = rewards[i] + GAMMA * values[i + 1] - values[i]
            gae = delta + GAMMA * LAMBDA * gae
        advantages.insert(0, gae)
    return advantages


@right(map={"reward": "obs_rewards", "value": "predicted"})
def normalised_at_the_end(obs_rewards, predicted, ended, bootstrap, gamma=0.99, lam=0.95):
    out = torch.zeros_like(obs_rewards)
    nxt, acc = bootstrap, torch.zeros_like(bootstrap)
    for t in reversed(range(len(out))):
        alive = 1.0 - ended[t]
        acc = obs_rewards[t] + gamma * alive * nxt - predicted[t] + gamma * lam * alive * acc
        out[t], nxt = acc, predicted[t]
    return (out - out.mean()) / (out.std() + 1e-8), out + predicted


class Storage:
    @right()
    def compute(self, last_values, dones):
        """Fills its own arrays, and returns nothing."""
        last_gae_lam = 0
        for step in reversed(range(self.buffer_size)):
            if step == self.buffer_size - 1:
                next_non_terminal = 1.0 - dones
                next_values = last_values
            else:
                next_non_terminal = 1.0 - self.episode_starts[step + 1]
                next_values = self.values[step + 1]
            delta = self.rewards[step] + self.gamma * next_values * next_non_terminal - self.values[step]
            last_gae_lam = delta + self.gamma * self.gae_lambda * next_non_terminal * last_gae_lam
            self.advantages[step] = last_gae_lam
        self.returns = self.advantages + self.values


of_a_method = Storage.compute


@right()
def from_a_batch(batch, args):
    rewards, values, dones = batch["rewards"], batch["values"], batch["dones"]
    out = torch.zeros_like(rewards)
    acc = 0.0
    for t in reversed(range(rewards.shape[0])):
        follows = batch["next_values"][t]
        live = 1.0 - dones[t]
        acc = rewards[t] + args.gamma * live * follows - values[t] + args.gamma * args.gae_lambda * live * acc
        out[t] = acc
    return out


@right()
def vectorised(rewards, values, dones, gamma, lam):
    """T + 1 values, all steps at once: each row a weight for each later δ."""
    steps = rewards.shape[0]
    deltas = rewards + gamma * values[1:] * (1 - dones) - values[:-1]
    out = []
    for t in range(steps):
        weight, total = torch.ones_like(deltas[0]), torch.zeros_like(deltas[0])
        for k in range(t, steps):
            total = total + weight * deltas[k]
            weight = weight * gamma * lam * (1 - dones[k])
        out.append(total)
    return torch.stack(out)


@right()
def vectorised_of_one_episode(rews, vals, gamma, lam):
    """T + 1 values, no flags."""
    deltas = rews + gamma * vals[1:] - vals[:-1]
    out = np.zeros(len(deltas))
    total = 0.0
    for i in range(len(deltas) - 1, -1, -1):
        total = deltas[i] + gamma * lam * total
        out[i] = total
    return out


# ── wrong ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@wrong("gae-mask-missing")
def nothing_masked(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    values = torch.cat([values, last_value[None]])
    gae = 0
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        gae = rewards[t] + gamma * values[t + 1] - values[t] + gamma * lam * gae
        out[t] = gae
    return out


@wrong("gae-bootstrap-not-masked")
def bootstrap_unmasked(rew, val, next_val, done, discount, lam):
    adv, acc = np.zeros_like(rew), 0
    for i in range(len(rew))[::-1]:
        acc = (rew[i] + discount * next_val[i] - val[i]) + discount * lam * (1 - done[i]) * acc
        adv[i] = acc
    return adv, adv + val


@wrong("gae-runs-over-reset")
def sum_not_cut(rewards, values, masks, last_value, gamma, tau):
    advs = []
    advantage, following = 0, last_value
    for r, v, m in zip(reversed(rewards), reversed(values), reversed(masks), strict=True):
        delta = r + gamma * following * m - v
        advantage = delta + gamma * tau * advantage
        following = v
        advs.append(advantage)
    return advs[::-1]


@wrong("gae-mask-shifted")
def one_too_late(rews, vals, dones, last_val, gamma=0.99, lam=0.95):
    n = len(rews)
    out = np.zeros(n)
    running = 0.0
    for i in range(n - 1, -1, -1):
        alive = 1 - (dones[i + 1] if i < n - 1 else 0)
        following = vals[i + 1] if i < n - 1 else last_val
        running = rews[i] + gamma * following * alive - vals[i] + gamma * lam * alive * running
        out[i] = running
    return out


@wrong("gae-mask-shifted")
def done_before_read_as_done_after(rewards, values, dones, next_value, next_done, gamma, gae_lambda):
    """CleanRL's arrays, with dones[t] where dones[t + 1] belongs."""
    steps = len(rewards)
    advantages = torch.zeros_like(rewards)
    last = 0
    for t in reversed(range(steps)):
        nextvalues = next_value if t == steps - 1 else values[t + 1]
        live = 1.0 - dones[t]
        delta = rewards[t] + gamma * nextvalues * live - values[t]
        advantages[t] = last = delta + gamma * gae_lambda * live * last
    return advantages, advantages + values


@wrong("gae-truncation-as-termination")
def time_limit_is_death(rewards, values, next_values, terminations, truncations, gamma, lam):
    dones = torch.logical_or(terminations.bool(), truncations.bool()).float()
    deltas = rewards + gamma * (1 - dones) * next_values - values
    acc, out = 0, []
    for delta, done in zip(deltas.flip(0), dones.flip(0), strict=True):
        acc = delta + gamma * lam * (1 - done) * acc
        out.insert(0, acc)
    return torch.stack(out)


@wrong("gae-runs-over-truncation")
def only_death_cuts(rewards, values, next_values, terminated, truncated, gamma, lam):
    acc, out = 0, np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        live = 1.0 - terminated[t]
        acc = rewards[t] + gamma * next_values[t] * live - values[t] + gamma * lam * live * acc
        out[t] = acc
    return out


@wrong("gae-bootstraps-from-reset-state")
def value_of_the_reset(rewards, values, next_values, terminated, truncated, gamma, lam):
    follows = torch.cat([values[1:], next_values[-1:]])
    dead = terminated.float()
    over = torch.maximum(dead, truncated.float())
    acc, out = torch.zeros_like(rewards[0]), torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * follows[t] * (1 - dead[t]) - values[t] + gamma * lam * (1 - over[t]) * acc
        out[t] = acc
    return out


@wrong("gae-bootstraps-from-same-state")
def value_of_the_same(rewards, values, dones, last_value, gamma, lam):
    acc, out = 0, torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        nonterminal = 1 - dones[t]
        acc = rewards[t] + gamma * values[t] * nonterminal - values[t] + gamma * lam * nonterminal * acc
        out[t] = acc
    return out


@wrong("gae-last-value-missing")
def rollout_ends_the_world(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    out, acc = [0.0] * len(rewards), 0.0
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else 0.0
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t] = acc
    return out


@wrong("gae-sign-flipped")
def value_minus_target(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        target = rewards[t] + gamma * following * (1 - dones[t])
        acc = (values[t] - target) + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-gamma-missing-in-delta")
def next_value_whole(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out, out + values


@wrong("gae-lambda-for-gamma")
def tau_in_both(rewards, values, dones, last_value, gamma=0.99, tau=0.95):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        alive = 1.0 - dones[t]
        acc = rewards[t] + tau * following * alive - values[t] + gamma * tau * alive * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-value-not-subtracted")
def value_added(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    out, acc, following = np.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) + values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-gamma-missing-in-sum")
def sum_decays_by_lambda(rewards, values, not_dones, last_value, gamma=0.99, lam=0.95):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * not_dones[t] - values[t] + lam * not_dones[t] * acc
        out[t], following = acc, values[t]
    return out + values, out


@wrong("gae-gamma-twice")
def discounted_twice(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    following = torch.cat([values[1:], last_value[None]]) * gamma
    delta = rewards + gamma * following * (1 - dones) - values
    out, acc = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        acc = delta[t] + gamma * lam * (1 - dones[t]) * acc
        out[t] = acc
    return out


@wrong("gae-lambda-missing")
def lambda_forgotten(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    out, acc, following = np.zeros(np.shape(rewards)), 0.0, last_value
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-not-summed")
def td_errors_only(rewards, values, dones, last_value, gamma, lam):
    following = torch.cat([values[1:], last_value.unsqueeze(0)], dim=0)
    return rewards + gamma * following * (1 - dones) - values


@wrong("gae-value-not-subtracted")
def no_baseline(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-reward-shifted")
def reward_of_the_next(rewards, values, dones, last_value, gamma, lam):
    rewards = torch.cat([rewards[1:], torch.zeros_like(rewards[:1])])
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-forward-in-time")
def from_the_first(rewards, values, dones, last_value, gamma, lam):
    following = torch.cat([values[1:], last_value[None]])
    out, acc = torch.zeros_like(rewards), 0.0
    for t in range(len(rewards)):
        acc = rewards[t] + gamma * following[t] * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t] = acc
    return out


@wrong("gae-returns-without-value")
def critic_learns_advantages(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    returns = out
    return out, returns


@wrong("gae-sign-flipped", "gae-lambda-missing")
def two_at_once(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = values[t] - rewards[t] - gamma * following * (1 - dones[t]) + gamma * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("gae-truncation-as-termination", "gae-gamma-missing-in-sum")
def two_with_both_flags(rewards, values, terminated, truncated, next_values, gamma, lam):
    done = terminated.bool() | truncated.bool()
    out, acc = torch.zeros_like(rewards), 0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * next_values[t] * (1 - done[t].float()) - values[t]
        acc = delta + lam * (1 - done[t].float()) * acc
        out[t] = acc
    return out


@wrong("gae-mismatch")
def squared_for_no_reason(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        acc = delta + gamma * lam * (1 - dones[t]) * acc * acc
        out[t], following = acc, values[t]
    return out
