"""TD(λ) returns, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

LAMBDA = 0.8


@right()
def pqn_like(rewards, values, dones, next_value, next_done, gamma, q_lambda):
    returns = torch.zeros_like(rewards)
    num_steps = rewards.shape[0]
    for t in reversed(range(num_steps)):
        if t == num_steps - 1:
            nextnonterminal = 1.0 - next_done
            returns[t] = rewards[t] + gamma * next_value * nextnonterminal
        else:
            nextnonterminal = 1.0 - dones[t + 1]
            following = values[t + 1]
            returns[t] = rewards[t] + gamma * (q_lambda * returns[t + 1] + (1 - q_lambda) * following) * nextnonterminal
    return returns


@right()
def dreamer_like(reward, value, pcont, bootstrap, lambda_):
    next_values = torch.cat([value[1:], bootstrap[None]], 0)
    inputs = reward + pcont * next_values * (1 - lambda_)
    last = bootstrap
    outputs = []
    for index in reversed(range(len(inputs))):
        last = inputs[index] + pcont[index] * lambda_ * last
        outputs.append(last)
    return torch.stack(list(reversed(outputs)))


@right()
def torchrl_like(gamma, lmbda, next_state_value, reward, done, terminated):
    g = next_state_value[-1] * ~terminated[-1]
    returns = torch.empty_like(reward)
    for i in reversed(range(reward.shape[0])):
        nv = next_state_value[i] * ~terminated[i]
        g = torch.where(done[i], nv, g)
        g = reward[i] + gamma * ((1 - lmbda) * nv + lmbda * g)
        returns[i] = g
    return returns


@right()
def through_gae(rews, vals, dones, last_val, gamma, lam):
    vals = np.append(vals, last_val)
    adv, out = 0.0, np.zeros(len(rews))
    for t in reversed(range(len(rews))):
        delta = rews[t] + gamma * vals[t + 1] * (1 - dones[t]) - vals[t]
        adv = delta + gamma * lam * (1 - dones[t]) * adv
        out[t] = adv + vals[t]
    return out


@right()
def from_n_step_returns(rewards, next_values, gamma, lam):
    steps = len(rewards)
    out = []
    for t in range(steps):
        total, weight, earned = 0.0, 1.0, 0.0
        for k in range(t, steps):
            earned += gamma ** (k - t) * rewards[k]
            n_step = earned + gamma ** (k - t + 1) * next_values[k]
            share = weight if k == steps - 1 else (1 - lam) * weight
            total += share * n_step
            weight *= lam
        out.append(total)
    return out


@right()
def method_of_a_buffer(self, last_values):
    returns = np.zeros_like(self.rewards)
    ahead, ahead_value = last_values, last_values
    for step in reversed(range(len(self.rewards))):
        mask = 1.0 - self.dones[step]
        returns[step] = self.rewards[step] + self.gamma * mask * ((1 - self.lam) * ahead_value + self.lam * ahead)
        ahead, ahead_value = returns[step], self.values[step]
    self.returns = returns


@right()
def pair_of_both(batch, gamma, lmbda):
    r, v, nv, term, trunc = (batch[k] for k in ("rewards", "values", "next_values", "terminated", "truncated"))
    g = nv[-1]
    out = []
    for t in reversed(range(len(r))):
        g = trunc[t] * nv[t] + (1 - trunc[t]) * g
        g = r[t] + gamma * (1 - term[t]) * ((1 - lmbda) * nv[t] + lmbda * g)
        out.insert(0, g)
    out = torch.stack(out)
    return {"returns": out, "advantages": out - v}


@wrong("td-lambda-mask-missing")
def no_flags_used(rewards, next_values, dones, gamma, lam):
    G = next_values[-1]
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        G = rewards[t] + gamma * ((1 - lam) * next_values[t] + lam * G)
        out[t] = G
    return out


@wrong("td-lambda-runs-over-reset")
def pqn_before_its_fix(rewards, next_values, dones, gamma, q_lambda):
    returns = torch.zeros_like(rewards)
    last = rewards.shape[0] - 1
    for t in reversed(range(rewards.shape[0])):
        nonterminal = 1.0 - dones[t]
        ahead = returns[t + 1] if t < last else next_values[t] * nonterminal
        returns[t] = rewards[t] + gamma * (q_lambda * ahead + (1 - q_lambda) * next_values[t] * nonterminal)
    return returns


@wrong("td-lambda-bootstrap-not-masked")
def other_half_masked(rews, next_vals, dones, gamma, lam):
    run = next_vals[-1]
    res = np.zeros_like(rews)
    for i in range(len(rews) - 1, -1, -1):
        run = rews[i] + gamma * ((1 - lam) * next_vals[i] + lam * run * (1 - dones[i]))
        res[i] = run
    return res


@wrong("td-lambda-mask-shifted")
def flag_of_the_step_after(rewards, values, dones, last_value, gamma, lam):
    T = len(rewards)
    out = [0.0] * T
    g, v = last_value, last_value
    for t in range(T - 1, -1, -1):
        alive = 1 - dones[t + 1] if t + 1 < T else 1
        g = rewards[t] + gamma * alive * ((1 - lam) * v + lam * g)
        out[t], v = g, values[t]
    return out


@wrong("td-lambda-truncation-as-termination")
def one_mask_for_both(reward, next_value, terminated, truncated, gamma, lam):
    alive = 1.0 - torch.clamp(terminated + truncated, max=1.0)
    ret = torch.zeros_like(reward)
    ahead = next_value[-1]
    for t in reversed(range(len(reward))):
        ahead = reward[t] + gamma * alive[t] * ((1 - lam) * next_value[t] + lam * ahead)
        ret[t] = ahead
    return ret


@wrong("td-lambda-cut-without-value")
def cut_and_nothing_in_its_place(r, v_next, terminated, done, gamma, lam):
    G = v_next[-1]
    res = []
    for t in reversed(range(len(r))):
        G = r[t] + gamma * ((1 - lam) * v_next[t] * (1 - terminated[t]) + lam * (1 - done[t]) * G)
        res.insert(0, G)
    return np.stack(res)


@wrong("td-lambda-runs-over-truncation")
def only_terminated(rewards, next_values, terminated, truncated, gamma, lmbda):
    g = next_values[-1]
    out = torch.zeros_like(rewards)
    for t in range(len(rewards) - 1, -1, -1):
        g = rewards[t] + gamma * (1 - terminated[t]) * ((1 - lmbda) * next_values[t] + lmbda * g)
        out[t] = g
    return out


@wrong("td-lambda-bootstraps-from-reset-state")
def values_rolled(rewards, values, next_values, terminated, truncated, gamma, lam):
    follows = np.concatenate([values[1:], next_values[-1:]])
    out = np.zeros_like(rewards)
    g = follows[-1]
    for t in range(len(rewards) - 1, -1, -1):
        g = np.where(truncated[t] > 0, follows[t], g)
        g = rewards[t] + gamma * (1 - terminated[t]) * ((1 - lam) * follows[t] + lam * g)
        out[t] = g
    return out


@wrong("td-lambda-bootstraps-from-same-state")
def value_of_this_step(self, rewards, values, dones, gamma, lam):
    G = values[-1]
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        G = rewards[t] + gamma * (1 - dones[t]) * (lam * G + (1 - lam) * values[t])
        out[t] = G
    return out


@wrong("td-lambda-last-value-missing")
def begins_with_zero(rewards, values, dones, last_value, gamma, lam):
    g = 0.0
    vs = [*values[1:], last_value]
    rets = []
    for r, v, d in zip(rewards[::-1], vs[::-1], dones[::-1], strict=True):
        g = r + gamma * (1 - d) * ((1 - lam) * v + lam * g)
        rets.append(g)
    return rets[::-1]


@wrong("td-lambda-weights-swapped")
def lambda_on_the_value(reward, next_state_value, done, gamma, lam):
    g = next_state_value[-1]
    out = torch.zeros_like(reward)
    for t in reversed(range(reward.size(0))):
        mix = lam * next_state_value[t] + (1 - lam) * g
        g = reward[t] + gamma * mix * (1 - done[t])
        out[t] = g
    return out


@wrong("td-lambda-weights-above-one")
def value_in_full(reward, next_value, done, gamma, lam):
    carry = next_value[-1]
    result = []
    for t in reversed(range(len(reward))):
        carry = reward[t] + gamma * (1 - done[t]) * (next_value[t] + lam * carry)
        result.append(carry)
    return result[::-1]


@wrong("td-lambda-value-missing")
def like_a_trace(rewards, dones, last_value, values, gamma, lam):
    out = np.zeros_like(rewards)
    acc = last_value
    for t in range(len(rewards))[::-1]:
        acc = rewards[t] + gamma * lam * (1 - dones[t]) * acc
        out[t] = acc
    return out


@wrong("td-lambda-lambda-ignored")
def one_step_only(rewards, next_values, terminals, gamma, td_lambda):
    return rewards + gamma * next_values * (1 - terminals)


@wrong("td-lambda-lambda-ignored")
def monte_carlo(rewards, masks, last_value, values, gamma, lam):
    out, R = torch.zeros_like(rewards), last_value
    for t in reversed(range(len(rewards))):
        R = rewards[t] + gamma * masks[t] * R
        out[t] = R
    return out


@wrong("td-lambda-gamma-missing")
def bracket_missing(rewards, next_values, dones, gamma, lam):
    G = next_values[-1]
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        G = rewards[t] + (1 - dones[t]) * (gamma * (1 - lam) * next_values[t] + lam * G)
        out[t] = G
    return out


@wrong("td-lambda-gamma-twice")
def gamma_on_discounts(reward, discount, next_value, gamma, lam):
    g = next_value[-1]
    out = torch.zeros_like(reward)
    for t in reversed(range(len(reward))):
        g = reward[t] + gamma * discount[t] * ((1 - lam) * next_value[t] + lam * g)
        out[t] = g
    return out


@wrong("td-lambda-terminal-reward-dropped")
def reward_masked(rewards, next_values, dones, gamma):
    g = next_values[-1]
    out = np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        g = (rewards[t] + gamma * ((1 - LAMBDA) * next_values[t] + LAMBDA * g)) * (1 - dones[t])
        out[t] = g
    return out


@wrong("td-lambda-mask-shifted")
def next_flag_but_for_the_last(rewards, next_values, dones, gamma, lam):
    ahead = torch.cat([dones[1:], dones[-1:]])
    g = next_values[-1]
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        g = rewards[t] + gamma * (1 - ahead[t]) * ((1 - lam) * next_values[t] + lam * g)
        out[t] = g
    return out


@wrong("td-lambda-weights-unfinished")
def weights_below_one(rewards, next_values, gamma, lam):
    out = []
    for t in range(len(rewards)):
        mix, earned = 0.0, 0.0
        for i, k in enumerate(range(t, len(rewards))):
            earned += gamma**i * rewards[k]
            mix += (1 - lam) * lam**i * (earned + gamma ** (i + 1) * next_values[k])
        out.append(mix)
    return np.array(out)


@wrong("td-lambda-value-subtracted")
def not_added_back(rewards, values, dones, last_value, gamma, lam):
    out = torch.zeros_like(rewards)
    acc, following = 0.0, last_value
    for t in reversed(range(len(rewards))):
        one_step = rewards[t] + gamma * (1 - dones[t]) * following - values[t]
        acc = one_step + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


@wrong("td-lambda-weights-swapped", "td-lambda-runs-over-reset")
def swapped_and_leaking(rewards, next_values, dones, gamma, lam):
    g = next_values[-1] * (1 - dones[-1])
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        g = rewards[t] + gamma * (lam * next_values[t] * (1 - dones[t]) + (1 - lam) * g)
        out[t] = g
    return out


@wrong("td-lambda-gamma-missing", "td-lambda-last-value-missing")
def undiscounted_from_zero(r, v_next, d, gamma, lam):
    G, out = 0.0, []
    for t in reversed(range(len(r))):
        G = r[t] + (1 - d[t]) * ((1 - lam) * v_next[t] + lam * G)
        out.insert(0, G)
    return out


@wrong("td-lambda-mismatch")
def smoothed(rewards, next_values, dones, gamma, lam):
    g = next_values[-1]
    out = np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        g = lam * (rewards[t] + gamma * (1 - dones[t]) * g) + (1 - lam) * np.sqrt(np.abs(next_values[t]))
        out[t] = g
    return out
