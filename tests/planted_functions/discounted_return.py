"""Discounted returns, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

GAMMA = 0.9


@right()
def spinning_up_discount_cumsum(x, discount):
    y = np.array(x[::-1], dtype=np.float32)
    for i in range(1, len(y)):  # what scipy.signal.lfilter([1], [1, -discount], x[::-1]) does
        y[i] += discount * y[i - 1]
    return y[::-1]


@right()
def reward_to_go_quadratic(rews):
    n = len(rews)
    rtgs = np.zeros_like(rews)
    for i in range(n):
        rtgs[i] = sum(GAMMA ** (k - i) * rews[k] for k in range(i, n))
    return rtgs


@right()
def a2c_tutorial(next_value, rewards, masks, gamma=0.99):
    R = next_value
    returns = []
    for step in reversed(range(len(rewards))):
        R = rewards[step] + gamma * R * masks[step]
        returns.insert(0, R)
    return returns


@right()
def reinforce_of_pytorch_examples(rewards, gamma):
    R = 0
    returns = []
    for r in rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + np.finfo(np.float32).eps.item())


@right()
def total_of_an_episode(rewards, gamma):
    return sum(r * gamma**t for t, r in enumerate(rewards))


@right()
def compute_returns_of_storage(self, next_value, use_gae=False):
    self.returns[-1] = next_value
    out = torch.zeros_like(self.rewards)
    running = next_value
    for step in reversed(range(self.rewards.size(0))):
        running = running * self.gamma * self.masks[step] + self.rewards[step]
        out[step] = running
    return out


@right()
def episodes_by_two_flags(reward, terminated, truncated, gamma):
    ends = torch.logical_or(terminated.bool(), truncated.bool())
    g = torch.zeros_like(reward)
    acc = torch.zeros_like(reward[0])
    for t in range(len(reward) - 1, -1, -1):
        acc = torch.where(ends[t], reward[t], reward[t] + gamma * acc)
        g[t] = acc
    return g


@right()
def vectorised_with_powers(rewards, gamma):
    steps = rewards.shape[-1]
    powers = gamma ** torch.arange(steps, dtype=rewards.dtype)
    weights = torch.triu(torch.stack([torch.roll(powers, i) for i in range(steps)]))
    return rewards @ weights.T


@right()
def advantage_against_baseline(batch):
    rewards, values, dones = batch["rewards"], batch["values"], batch["dones"]
    returns = np.zeros_like(rewards)
    g = 0
    for t in reversed(range(len(rewards))):
        g = rewards[t] + batch["gamma"] * g * (1 - dones[t])
        returns[t] = g
    return {"returns": returns, "advantages": returns - values}


@wrong("discounted-return-same-for-every-step")
def simplest_policy_gradient(ep_rews, gamma):
    ret = 0.0
    for rew in reversed(ep_rews):
        ret = rew + gamma * ret
    return [ret] * len(ep_rews)


@right()
def standardised_numpy(episode_rewards, gamma):
    discounted = np.zeros(len(episode_rewards))
    cumulative = 0.0
    for i in reversed(range(len(episode_rewards))):
        cumulative = cumulative * gamma + episode_rewards[i]
        discounted[i] = cumulative
    discounted -= np.mean(discounted)
    discounted /= np.std(discounted) + 1e-7
    return discounted


@right()
def bootstrapped_where_cut(rewards, next_values, terminations, truncations, discount_factor):
    out = np.empty_like(rewards)
    follows = next_values[-1]
    for t in reversed(range(len(rewards))):
        follows = np.where(truncations[t] > 0, next_values[t], follows)
        out[t] = rewards[t] + discount_factor * (1 - terminations[t]) * follows
        follows = out[t]
    return out


@wrong("discounted-return-runs-over-reset")
def flags_unused(rewards, dones, gamma):
    out, run = [], 0.0
    for r, _d in zip(reversed(rewards), reversed(dones), strict=True):
        run = r + gamma * run
        out.append(run)
    return out[::-1]


@wrong("discounted-return-mask-shifted")
def flag_of_the_step_after(rews, dones, gamma):
    n = len(rews)
    rtg = torch.zeros_like(rews)
    for i in range(n - 1, -1, -1):
        if i == n - 1:
            rtg[i] = rews[i]
        else:
            rtg[i] = rews[i] + gamma * rtg[i + 1] * (1 - dones[i + 1])
    return rtg


@wrong("discounted-return-mask-shifted")
def reset_after_it_was_added(rewards, is_terminals, gamma):
    # the sum is dropped one step too late on the way back
    returns = []
    discounted_reward = 0
    for reward, is_terminal in zip(reversed(rewards), reversed(is_terminals), strict=True):
        discounted_reward = reward + gamma * discounted_reward
        returns.insert(0, discounted_reward)
        if is_terminal:
            discounted_reward = 0
    return returns


@wrong("discounted-return-terminal-reward-dropped")
def everything_masked(r, done, gamma, last_value):
    R = last_value
    rets = [None] * len(r)
    for t in range(len(r))[::-1]:
        R = (r[t] + gamma * R) * (1.0 - done[t])
        rets[t] = R
    return rets


@wrong("discounted-return-forward-in-time")
def not_reversed(rewards, gamma):
    R, returns = 0, []
    for r in rewards:
        R = r + gamma * R
        returns.append(R)
    return returns


@wrong("discounted-return-forward-in-time")
def horner_the_wrong_way(episode_rewards, gamma):
    g = 0.0
    for r in episode_rewards:
        g = r + gamma * g
    return g


@wrong("discounted-return-forward-in-time")
def cumsum_so_far(rewards, gamma):
    weights = gamma ** np.arange(len(rewards))
    return np.cumsum(weights * rewards)


@wrong("discounted-return-order-reversed")
def appended_and_left(self):
    R = 0.0
    returns = []
    for r in self.rewards[::-1]:
        R = r + self.gamma * R
        returns.append(R)
    return returns


@wrong("discounted-return-gamma-missing")
def plain_cumsum(rewards, discount_factor):
    return torch.flip(torch.cumsum(torch.flip(rewards, [0]), 0), [0])


@wrong("discounted-return-gamma-twice")
def gamma_in_both_places(rewards, masks, next_value, gamma):
    rets = torch.zeros_like(rewards)
    follow = next_value
    for i in reversed(range(rewards.shape[0])):
        discount = gamma * masks[i]
        rets[i] = rewards[i] + gamma * discount * follow
        follow = rets[i]
    return rets


@wrong("discounted-return-own-reward-discounted")
def powers_from_one(rewards, gamma):
    T = len(rewards)
    return [sum(gamma ** (k - t + 1) * rewards[k] for k in range(t, T)) for t in range(T)]


@wrong("discounted-return-own-reward-discounted")
def total_from_one(rewards, gamma):
    total, weight = 0.0, 1.0
    for r in rewards:
        weight *= gamma
        total += weight * r
    return total


@wrong("discounted-return-discounted-from-start")
def weighted_once_then_summed(rews, gamma):
    weighted = rews * gamma ** np.arange(len(rews))
    return np.cumsum(weighted[::-1])[::-1]


@wrong("discounted-return-own-reward-missing")
def range_begins_too_late(rewards, discount):
    out = np.zeros(len(rewards))
    for t in range(len(rewards)):
        for power, k in enumerate(range(t + 1, len(rewards))):
            out[t] += discount**power * rewards[k]
    return out


@wrong("discounted-return-not-summed")
def rewards_as_they_are(rewards, dones, gamma):
    returns = rewards.clone()
    for t in reversed(range(len(rewards) - 1)):
        returns[t] = rewards[t] + gamma * (1 - dones[t]) * 0
    return returns


@wrong("discounted-return-last-value-missing")
def begins_with_nothing(rewards, dones, last_value, gamma):
    R = torch.zeros_like(last_value)
    stack = []
    for t in reversed(range(len(rewards))):
        R = rewards[t] + gamma * (1 - dones[t]) * R
        stack.append(R)
    return torch.stack(stack[::-1])


@wrong("discounted-return-truncation-as-termination")
def both_flags_stop(rewards, terminated, truncated, next_values, gamma):
    done = np.maximum(terminated, truncated)
    out = np.zeros_like(rewards)
    ahead = next_values[-1]
    for t in range(len(rewards) - 1, -1, -1):
        ahead = rewards[t] + gamma * (1 - done[t]) * ahead
        out[t] = ahead
    return out


@wrong("discounted-return-whole-numbers")
def stored_as_long(rewards, gamma):
    returns = torch.zeros(len(rewards), dtype=torch.long)
    R = 0.0
    for t in range(len(rewards) - 1, -1, -1):
        R = rewards[t] + gamma * R
        returns[t] = R
    return returns


@wrong("discounted-return-restarts-at-reward")
def pong_from_pixels(r, gamma=0.99):
    discounted_r = np.zeros_like(r)
    running_add = 0
    for t in reversed(range(0, len(r))):
        if r[t] != 0:
            running_add = 0
        running_add = running_add * gamma + r[t]
        discounted_r[t] = running_add
    return discounted_r


@wrong("discounted-return-one-end-stops-all")
def any_environment(rewards, dones, gamma):
    R = torch.zeros(rewards.shape[1])
    out = []
    for t in reversed(range(rewards.shape[0])):
        if dones[t].any():
            R = torch.zeros_like(R)
        R = rewards[t] + gamma * R
        out.insert(0, R)
    return torch.stack(out)


@wrong("discounted-return-runs-over-reset", "discounted-return-gamma-missing")
def nothing_but_a_sum(rewards, dones, last_value, gamma):
    return (rewards.flip(0).cumsum(0)).flip(0) + last_value


@wrong("discounted-return-mask-shifted", "discounted-return-last-value-missing")
def two_at_once(rewards, terminals, bootstrap_value, gamma):
    out = np.zeros_like(rewards)
    run = 0.0
    for i in range(len(rewards) - 1, -1, -1):
        alive = 1.0 - terminals[i - 1] if i else 1.0
        run = rewards[i] + gamma * alive * run
        out[i] = run
    return out


@wrong("discounted-return-mismatch")
def hyperbolic(rewards, gamma):
    return [sum(rewards[k] / (1 + gamma * (k - t)) for k in range(t, len(rewards))) for t in range(len(rewards))]
