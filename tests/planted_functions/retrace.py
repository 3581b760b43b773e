"""Retrace(λ), as people write it."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def acer_of_baselines(R, D, q_i, v, rho_i, gamma):
    """v of T + 1 observations; λ = 1."""
    rho_bar = torch.clamp(rho_i, max=1.0)
    qret = v[-1]
    qrets = []
    for i in range(len(R) - 1, -1, -1):
        qret = R[i] + gamma * qret * (1.0 - D[i])
        qrets.append(qret)
        qret = rho_bar[i] * (qret - q_i[i]) + v[i]
    return torch.stack(qrets[::-1])


@right()
def with_next_values(rewards, q_values, next_values, dones, ratio, gamma, lam):
    T = len(rewards)
    c = lam * np.minimum(1.0, ratio)
    target = np.zeros_like(rewards)
    target[T - 1] = rewards[T - 1] + gamma * (1 - dones[T - 1]) * next_values[T - 1]
    for t in range(T - 2, -1, -1):
        correction = c[t + 1] * (target[t + 1] - q_values[t + 1])
        target[t] = rewards[t] + gamma * (1 - dones[t]) * (next_values[t] + correction)
    return target


@right()
def as_a_sum_of_errors(rewards, q, values, last_value, logp, behaviour_logp, gamma, lam):
    # one episode
    T = len(rewards)
    ratio = torch.exp(logp - behaviour_logp)
    v_next = torch.cat([values[1:], last_value[None]])
    delta = rewards + gamma * v_next - q
    out = []
    for t in range(T):
        weight, total = torch.ones_like(last_value), torch.zeros_like(last_value)
        for k in range(t, T):
            if k > t:
                weight = weight * gamma * lam * ratio[k].clamp(max=1.0)
            total = total + weight * delta[k]
        out.append(q[t] + total)
    return torch.stack(out)


@right()
def rlax_continuous(q_tm1, q_t, v_t, r_t, discount_t, log_rhos, lambda_):
    c_t = torch.minimum(torch.ones_like(log_rhos), torch.exp(log_rhos)) * lambda_
    ahead = r_t[-1] + discount_t[-1] * v_t[-1]
    returns = [ahead]
    for i in range(len(r_t) - 2, -1, -1):
        ahead = r_t[i] + discount_t[i] * (v_t[i] - c_t[i] * q_t[i]) + discount_t[i] * c_t[i] * ahead
        returns.insert(0, ahead)
    return torch.stack(returns) - q_tm1


@right()
def from_tables(self, q, pi, mu, actions, rewards, dones):
    """q and pi of T + 1 observations, mu of the action that was taken."""
    taken = np.take_along_axis(q[:-1], actions[..., None], -1)[..., 0]
    prob = np.take_along_axis(pi[:-1], actions[..., None], -1)[..., 0]
    v = (pi * q).sum(-1)
    c = self.lam * np.minimum(1.0, prob / mu)
    out = np.zeros_like(rewards)
    ahead = v[-1]
    for t in range(len(rewards) - 1, -1, -1):
        out[t] = rewards[t] + self.gamma * (1 - dones[t]) * ahead
        ahead = v[t] + c[t] * (out[t] - taken[t])
    return out


@right()
def with_time_limits(batch, gamma, lmbda):
    r, q, nv = batch["rewards"], batch["q"], batch["next_values"]
    term, trunc, ratio = batch["terminated"], batch["truncated"], batch["ratio"]
    err = torch.zeros_like(r[0])
    errors = []
    for t in reversed(range(len(r))):
        delta = r[t] + gamma * (1 - term[t]) * nv[t] - q[t]
        cut = torch.clamp(term[t] + trunc[t], max=1)
        err = delta + gamma * (1 - cut) * err
        errors.insert(0, err)
        err = lmbda * ratio[t].clamp(max=1.0) * err
    return {"td_errors": torch.stack(errors)}


def _back(r, q, v_next, done, c, gamma):
    """Right, for the wrong ones to go wrong before or after."""
    out = [None] * len(r)
    out[-1] = r[-1] + gamma * (1 - done[-1]) * v_next[-1]
    for t in range(len(r) - 2, -1, -1):
        out[t] = r[t] + gamma * (1 - done[t]) * (v_next[t] + c[t + 1] * (out[t + 1] - q[t + 1]))
    return torch.stack(out)


@wrong("retrace-ratio-inverted")
def old_over_new(rewards, q, next_values, dones, logp, old_logp, gamma, lam):
    ratio = (old_logp - logp).exp()
    return _back(rewards, q, next_values, dones, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-ratio-not-exponentiated")
def logarithms(rewards, q, next_values, dones, logp, old_logp, gamma, lam):
    return _back(rewards, q, next_values, dones, lam * (logp - old_logp).clamp(max=1), gamma)


@wrong("retrace-ratio-ignored")
def q_lambda(rewards, q, next_values, dones, ratio, gamma, lam):
    acc = next_values[-1] * 0
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        out[t] = rewards[t] + gamma * (1 - dones[t]) * (next_values[t] + acc)
        acc = lam * (out[t] - q[t])
    return out


@wrong("retrace-not-clipped")
def raw_ratio(rewards, q, next_values, dones, pi, mu, gamma, lam):
    return _back(rewards, q, next_values, dones, lam * pi / mu, gamma)


@wrong("retrace-clipped-from-below")
def maximum_for_minimum(rewards, q, v, last_value, dones, rho, gamma, lam):
    v = np.concatenate([v, last_value[None]])
    y = v[-1]
    out = np.zeros_like(rewards)
    for t in range(len(rewards))[::-1]:
        out[t] = rewards[t] + gamma * (1 - dones[t]) * y
        y = v[t] + lam * np.maximum(1.0, rho[t]) * (out[t] - q[t])
    return out


@wrong("retrace-trace-of-same-step")
def trace_as_in_vtrace(rewards, q, next_values, dones, ratio, gamma, lam):
    c = lam * ratio.clamp(max=1.0)
    y = rewards[-1] + gamma * (1 - dones[-1]) * next_values[-1]
    out = [y]
    for t in range(len(rewards) - 2, -1, -1):
        y = rewards[t] + gamma * (1 - dones[t]) * (next_values[t] + c[t] * (y - q[t + 1]))
        out.insert(0, y)
    return torch.stack(out)


@wrong("retrace-q-not-subtracted")
def nothing_subtracted(rewards, q, next_values, dones, ratio, gamma, lam):
    return _back(rewards, torch.zeros_like(q), next_values, dones, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-value-subtracted")
def value_for_q(rewards, q_values, values, last_value, dones, ratio, gamma, lam):
    v = list(values) + [last_value]  # noqa: RUF005
    y = last_value
    out = []
    for t in range(len(rewards) - 1, -1, -1):
        y = rewards[t] + gamma * (1 - dones[t]) * y
        out.insert(0, y)
        y = v[t] + lam * min(1.0, ratio[t]) * (y - v[t])
    return out


@wrong("retrace-bootstraps-from-taken-action")
def sarsa_like(rewards, q, next_values, dones, ratio, gamma, lam):
    q_next = torch.cat([q[1:], next_values[-1:]])
    return _back(rewards, q, q_next, dones, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-bootstraps-from-same-state")
def value_of_this_state(rewards, q, values, next_values, dones, ratio, gamma, lam):
    return _back(rewards, q, values, dones, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-lambda-missing")
def no_lambda(self, rewards, q, next_values, dones, ratio, lam):
    return _back(rewards, q, next_values, dones, ratio.clamp(max=1), self.gamma)


@wrong("retrace-not-corrected")
def one_step(rewards, q, next_values, dones, ratio, gamma, lam):
    weight = lam * ratio.clamp(max=1)
    return rewards + gamma * (1 - dones) * next_values + 0 * weight * q


@wrong("retrace-mask-missing")
def correction_not_masked(rewards, q, next_values, dones, ratio, gamma, lam):
    c = lam * np.minimum(ratio, 1.0)
    out = np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        out[t] = rewards[t] + gamma * (1 - dones[t]) * next_values[t]
        if t < len(rewards) - 1:
            out[t] += gamma * c[t + 1] * (out[t + 1] - q[t + 1])
    return out


@wrong("retrace-mask-shifted")
def flag_of_the_next(rewards, q, next_values, dones, ratio, gamma, lam):
    later = torch.cat([dones[1:], torch.zeros_like(dones[:1])])
    return _back(rewards, q, next_values, later, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-truncation-as-termination")
def one_flag_of_two(rewards, q, next_values, terminated, truncated, ratio, gamma, lam):
    ended = torch.maximum(terminated, truncated)
    return _back(rewards, q, next_values, ended, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-runs-over-truncation")
def terminated_only(rewards, q, next_values, terminated, truncated, ratio, gamma, lam):
    return _back(rewards, q, next_values, terminated, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-last-value-missing")
def begins_with_zero(rewards, q, values, last_value, dones, ratio, gamma, lam):
    v_next = torch.cat([values[1:], torch.zeros_like(last_value)[None]])
    return _back(rewards, q, v_next, dones, lam * ratio.clamp(max=1), gamma)


@wrong("retrace-gamma-missing")
def bracket_missing(rewards, q, next_values, dones, ratio, gamma, lam):
    c = lam * ratio.clamp(max=1)
    y = rewards[-1] + gamma * (1 - dones[-1]) * next_values[-1]
    out = [y]
    for t in range(len(rewards) - 2, -1, -1):
        y = rewards[t] + (1 - dones[t]) * (gamma * next_values[t] + c[t + 1] * (y - q[t + 1]))
        out.append(y)
    return torch.stack(out[::-1])


@wrong("retrace-correction-sign-flipped")
def q_less_target(rewards, q, next_values, dones, ratio, gamma, lam):
    return _back(rewards, q, next_values, dones, -lam * ratio.clamp(max=1), gamma)


@wrong("retrace-not-clipped", "retrace-lambda-missing")
def plain_importance_sampling(rewards, q, next_values, dones, ratio, gamma, lam):
    return _back(rewards, q, next_values, dones, ratio, gamma)


@wrong("retrace-ratio-inverted", "retrace-last-value-missing")
def inverted_and_unfinished(rewards, q, values, last_value, dones, pi, mu, gamma, lam):
    v_next = torch.cat([values[1:], values[-1:]])
    return _back(rewards, q, v_next, dones, lam * (mu / pi).clamp(max=1), gamma)


@wrong("retrace-mismatch")
def root_of_the_ratio(rewards, q, next_values, dones, ratio, gamma, lam):
    return _back(rewards, q, next_values, dones, lam * ratio.sqrt(), gamma)
