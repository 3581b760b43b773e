"""V-trace, as people write it."""

from __future__ import annotations

import collections

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong

VTraceReturns = collections.namedtuple("VTraceReturns", "vs pg_advantages")


@right()
def impala_like(
    log_rhos, discounts, rewards, values, bootstrap_value, clip_rho_threshold=1.0, clip_pg_rho_threshold=1.0
):
    rhos = torch.exp(log_rhos)
    clipped_rhos = torch.clamp(rhos, max=clip_rho_threshold)
    cs = torch.clamp(rhos, max=1.0)
    values_t_plus_1 = torch.cat([values[1:], torch.unsqueeze(bootstrap_value, 0)], dim=0)
    deltas = clipped_rhos * (rewards + discounts * values_t_plus_1 - values)
    acc = torch.zeros_like(bootstrap_value)
    result = []
    for t in range(discounts.shape[0] - 1, -1, -1):
        acc = deltas[t] + discounts[t] * cs[t] * acc
        result.append(acc)
    result.reverse()
    vs = torch.add(torch.stack(result), values)
    vs_t_plus_1 = torch.cat([vs[1:], torch.unsqueeze(bootstrap_value, 0)], dim=0)
    clipped_pg_rhos = torch.clamp(rhos, max=clip_pg_rho_threshold)
    pg_advantages = clipped_pg_rhos * (rewards + discounts * vs_t_plus_1 - values)
    return VTraceReturns(vs=vs, pg_advantages=pg_advantages)


@right()
def torchbeast_like(behavior_policy_logits, target_policy_logits, actions, discounts, rewards, values, bootstrap_value):
    def log_probs(logits):
        flat = F.log_softmax(logits.reshape(-1, logits.shape[-1]), dim=-1)
        return flat.gather(1, actions.reshape(-1, 1)).reshape(actions.shape)

    rho = (log_probs(target_policy_logits) - log_probs(behavior_policy_logits)).exp()
    return impala_like(rho.log(), discounts, rewards, values, bootstrap_value)


@right()
def two_log_probs_and_flags(logp, old_logp, rewards, values, dones, last_value, gamma, rho_bar, c_bar):
    ratio = np.exp(logp - old_logp)
    rho, c = np.minimum(ratio, rho_bar), np.minimum(ratio, c_bar)
    T = len(rewards)
    vs = np.zeros_like(values)
    diff, following = 0.0, last_value
    adv = np.zeros_like(values)
    vs_next = last_value
    for t in reversed(range(T)):
        alive = gamma * (1.0 - dones[t])
        delta = rho[t] * (rewards[t] + alive * following - values[t])
        diff = delta + alive * c[t] * diff
        vs[t] = values[t] + diff
        adv[t] = rho[t] * (rewards[t] + alive * vs_next - values[t])
        following, vs_next = values[t], vs[t]
    return vs, adv


@right()
def only_the_targets(rewards, values, next_values, terminated, truncated, ratio, gamma):
    clipped = torch.clamp(ratio, max=1.0)
    cut = torch.maximum(terminated, truncated)
    out = torch.zeros_like(values)
    acc = torch.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        delta = clipped[t] * (rewards[t] + gamma * (1 - terminated[t]) * next_values[t] - values[t])
        acc = delta + gamma * (1 - cut[t]) * clipped[t] * acc
        out[t] = acc + values[t]
    return out


@right()
def method_with_one_threshold(self, batch):
    rho = (batch["log_pi"] - batch["log_mu"]).exp().clamp(max=self.rho_clip)
    nonterminal = 1.0 - batch["dones"]
    vals = torch.cat([batch["values"], batch["bootstrap_value"][None]])
    vs_minus_v = torch.zeros_like(vals)
    for t in reversed(range(len(batch["rewards"]))):
        td = rho[t] * (batch["rewards"][t] + self.gamma * nonterminal[t] * vals[t + 1] - vals[t])
        vs_minus_v[t] = td + self.gamma * nonterminal[t] * rho[t] * vs_minus_v[t + 1]
    vs = vs_minus_v + vals
    return {"vs": vs[:-1], "advantages": batch["rewards"] + self.gamma * nonterminal * vs[1:] - vals[:-1]}


@right()
def plain_lists(pi, mu, rewards, values, gamma, lam):
    # one whole episode
    n = len(rewards)
    w = [min(1.0, p / q) for p, q in zip(pi, mu, strict=True)]
    vs = [0.0] * n
    extra = 0.0
    for i in range(n - 1, -1, -1):
        nxt = values[i + 1] if i + 1 < n else 0.0
        extra = w[i] * (rewards[i] + gamma * nxt - values[i]) + gamma * lam * w[i] * extra
        vs[i] = values[i] + extra
    return vs


def _trace(rhos, cs, discounts, rewards, values, last):
    """Right, for the wrong ones to go wrong before or after."""
    following = torch.cat([values[1:], last.unsqueeze(0)])
    deltas = rhos * (rewards + discounts * following - values)
    acc, out = torch.zeros_like(last), []
    for t in reversed(range(len(rewards))):
        acc = deltas[t] + discounts[t] * cs[t] * acc
        out.insert(0, acc)
    return torch.stack(out) + values


@wrong("vtrace-ratio-inverted")
def other_way_round(behaviour_log_probs, target_log_probs, discounts, rewards, values, bootstrap_value):
    rhos = (behaviour_log_probs - target_log_probs).exp()
    return _trace(rhos.clamp(max=1), rhos.clamp(max=1), discounts, rewards, values, bootstrap_value)


@wrong("vtrace-ratio-not-exponentiated")
def still_a_logarithm(log_rhos, discounts, rewards, values, bootstrap_value):
    rhos = log_rhos.clamp(max=1.0)
    return _trace(rhos, rhos, discounts, rewards, values, bootstrap_value)


@wrong("vtrace-ratio-ignored")
def as_if_on_policy(log_rhos, discounts, rewards, values, bootstrap_value):
    g, out = bootstrap_value, []
    for t in reversed(range(len(rewards))):
        g = rewards[t] + discounts[t] * g
        out.insert(0, g)
    return torch.stack(out)


@wrong("vtrace-not-clipped")
def raw_ratios(new_log_probs, old_log_probs, rewards, values, dones, next_value, gamma, rho_bar=1.0, c_bar=1.0):
    ratio = (new_log_probs - old_log_probs).exp()
    return _trace(ratio, ratio, gamma * (1 - dones), rewards, values, next_value)


@wrong("vtrace-rho-not-clipped")
def only_c_is_clipped(rhos, rewards, values, discounts, bootstrap_value):
    return _trace(rhos, torch.minimum(rhos, torch.ones_like(rhos)), discounts, rewards, values, bootstrap_value)


@wrong("vtrace-c-not-clipped")
def only_rho_is_clipped(rhos, rewards, values, dones, gamma, next_values, rho_clip):
    out = np.zeros_like(rewards)
    carry = np.zeros_like(rewards[0])
    for t in range(len(rewards) - 1, -1, -1):
        alive = gamma * (1 - dones[t])
        carry = (
            np.minimum(rhos[t], rho_clip) * (rewards[t] + alive * next_values[t] - values[t]) + alive * rhos[t] * carry
        )
        out[t] = values[t] + carry
    return out


@wrong("vtrace-clipped-from-below")
def clamp_with_min(log_rhos, discounts, rewards, values, bootstrap_value, clip_rho_threshold):
    rhos = log_rhos.exp()
    return _trace(rhos.clamp(min=clip_rho_threshold), rhos.clamp(min=1.0), discounts, rewards, values, bootstrap_value)


@wrong("vtrace-rho-and-c-swapped")
def thresholds_swapped(ratio, rewards, values, dones, last_value, gamma, rho_bar, c_bar):
    return _trace(ratio.clamp(max=c_bar), ratio.clamp(max=rho_bar), gamma * (1 - dones), rewards, values, last_value)


@wrong("vtrace-rho-missing-in-delta")
def plain_delta(ratio, rewards, values, dones, last_value, gamma):
    return _trace(torch.ones_like(ratio), ratio.clamp(max=1.0), gamma * (1 - dones), rewards, values, last_value)


@wrong("vtrace-c-missing")
def no_trace(ratio, rewards, values, masks, last_value, gamma):
    vs, adv = [], torch.zeros_like(last_value)
    following = last_value
    for t in reversed(range(len(rewards))):
        delta = ratio[t].clamp(max=1.0) * (rewards[t] + gamma * masks[t] * following - values[t])
        adv = delta + gamma * masks[t] * adv
        vs.append(adv + values[t])
        following = values[t]
    return torch.stack(vs[::-1])


@wrong("vtrace-mask-missing")
def flags_unused(logp, old_logp, rewards, values, dones, last_value, gamma):
    ratio = (logp - old_logp).exp().clamp(max=1.0)
    discounts = torch.full_like(rewards, gamma)
    return _trace(ratio, ratio, discounts, rewards, values, last_value)


@wrong("vtrace-mask-shifted")
def flag_of_the_next_step(logp, old_logp, rewards, values, dones, last_value, gamma):
    ratio = (logp - old_logp).exp().clamp(max=1.0)
    ahead = torch.cat([dones[1:], torch.zeros_like(dones[:1])])
    return _trace(ratio, ratio, gamma * (1 - ahead), rewards, values, last_value)


@wrong("vtrace-truncation-as-termination")
def one_mask(rhos, rewards, values, next_values, terminated, truncated, gamma):
    alive = gamma * (1 - np.maximum(terminated, truncated))
    rho = np.minimum(rhos, 1.0)
    vs, acc = np.zeros_like(values), np.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        acc = rho[t] * (rewards[t] + alive[t] * next_values[t] - values[t]) + alive[t] * rho[t] * acc
        vs[t] = values[t] + acc
    return vs


@wrong("vtrace-advantage-across-episodes")
def torchrl_before_its_fix(gamma, log_pi, log_mu, state_value, next_state_value, reward, done, terminated):
    rho = (log_pi - log_mu).exp().clamp_max(1.0)
    deltas = rho * (reward + gamma * (~terminated) * next_state_value - state_value)
    acc, out = torch.zeros_like(reward[0]), []
    for i in reversed(range(len(reward))):
        acc = deltas[i] + gamma * (~done[i]) * rho[i] * acc
        out.insert(0, acc)
    vs = torch.stack(out) + state_value
    vs_next = torch.cat([vs[1:], next_state_value[-1:]])
    return rho * (reward + gamma * (~terminated) * vs_next - state_value), vs


@wrong("vtrace-advantage-from-value")
def one_step_advantages(log_rhos, discounts, rewards, values, bootstrap_value):
    rho = log_rhos.exp().clamp(max=1.0)
    vs = _trace(rho, rho, discounts, rewards, values, bootstrap_value)
    v_next = torch.cat([values[1:], bootstrap_value[None]])
    return {"vs": vs, "pg_advantages": rho * (rewards + discounts * v_next - values)}


@wrong("vtrace-advantage-less-target")
def target_as_baseline(log_rhos, discounts, rewards, values, bootstrap_value):
    rho = log_rhos.exp().clamp(max=1.0)
    vs = _trace(rho, rho, discounts, rewards, values, bootstrap_value)
    vs_next = torch.cat([vs[1:], bootstrap_value[None]])
    return VTraceReturns(vs, rho * (rewards + discounts * vs_next - vs))


@wrong("vtrace-value-not-added")
def correction_only(rhos, rewards, values, dones, last_value, gamma, rho_bar, c_bar):
    return (
        _trace(rhos.clamp(max=rho_bar), rhos.clamp(max=c_bar), gamma * (1 - dones), rewards, values, last_value)
        - values
    )


@wrong("vtrace-last-value-missing")
def ends_with_nothing(rhos, rewards, values, dones, last_value, gamma):
    rho = rhos.clamp(max=1.0)
    return _trace(rho, rho, gamma * (1 - dones), rewards, values, torch.zeros_like(last_value))


@wrong("vtrace-gamma-missing")
def gamma_only_in_delta(rhos, rewards, values, dones, last_value, gamma):
    vs, acc, follow = [], 0.0, last_value
    for t in reversed(range(len(rewards))):
        w = min(1.0, rhos[t])
        acc = w * (rewards[t] + gamma * (1 - dones[t]) * follow - values[t]) + w * (1 - dones[t]) * acc
        vs.insert(0, values[t] + acc)
        follow = values[t]
    return vs


@wrong("vtrace-ratio-inverted", "vtrace-last-value-missing")
def inverted_and_unfinished(logp, old_logp, rewards, values, dones, last_value, gamma):
    ratio = (old_logp - logp).exp().clamp(max=1.0)
    return _trace(ratio, ratio, gamma * (1 - dones), rewards, values, last_value * 0)


@wrong("vtrace-rho-missing-in-delta", "vtrace-gamma-missing")
def undiscounted_and_unweighted(ratio, rewards, values, dones, last_value, gamma):
    return _trace(torch.ones_like(ratio), ratio.clamp(max=1.0), 1 - dones, rewards, values, last_value)


@wrong("vtrace-mismatch")
def squared_ratios(ratio, rewards, values, dones, last_value, gamma):
    w = (ratio**2).clamp(max=3.0)
    return _trace(w, w, gamma * (1 - dones), rewards, values, last_value)
