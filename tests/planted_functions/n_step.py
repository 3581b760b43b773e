"""n-step returns, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def over_a_rollout(rewards, values, dones, last_value, gamma, n):
    T = len(rewards)
    values = torch.cat([values, last_value[None]])
    out = torch.zeros_like(rewards)
    for t in range(T):
        alive = torch.ones_like(last_value)
        end = min(t + n, T)
        for k in range(t, end):
            out[t] += gamma ** (k - t) * alive * rewards[k]
            alive = alive * (1 - dones[k])
        out[t] += gamma ** (end - t) * alive * values[end]
    return out


@right()
def rainbow_tutorial(self, n_step_buffer, gamma):
    rew, next_obs, done = n_step_buffer[-1][-3:]
    for transition in reversed(list(n_step_buffer)[:-1]):
        r, n_o, d = transition[-3:]
        rew = r + gamma * rew * (1 - d)
        next_obs, done = (n_o, d) if d else (next_obs, done)
    return rew, next_obs, done


@right()
def window_of_a_batch(rewards, dones, gamma):
    batch, n = rewards.shape
    returns, alive = np.zeros(batch), np.ones(batch)
    for k in range(n):
        returns += gamma**k * alive * rewards[:, k]
        alive *= 1 - dones[:, k]
    return returns, 1 - alive


@right()
def rlax_like(r_t, discount_t, v_t, n):
    seq_len = r_t.shape[0]
    pad = min(n - 1, seq_len)
    targets = torch.cat([v_t[n - 1 :], v_t[-1:].repeat(pad, *[1] * (v_t.ndim - 1))])
    r_t = torch.cat([r_t, torch.zeros((n - 1, *r_t.shape[1:]))])
    discount_t = torch.cat([discount_t, torch.ones((n - 1, *discount_t.shape[1:]))])
    for i in reversed(range(n)):
        targets = r_t[i : i + seq_len] + discount_t[i : i + seq_len] * targets
    return targets


@right()
def target_of_one_window(rewards, dones, next_value, gamma, n_step):
    total = 0.0
    for i in range(n_step):
        total += gamma**i * rewards[i]
        if dones[i]:
            return total
    return total + gamma**n_step * next_value


@right()
def a2c_over_the_rollout(rewards, masks, next_value, gamma, num_steps):
    returns = torch.zeros_like(rewards)
    R = next_value
    for step in reversed(range(num_steps)):
        R = rewards[step] + gamma * R * masks[step]
        returns[step] = R
    return returns


@right()
def full_windows_only(rewards, next_values, gamma, n):
    out = []
    for t in range(len(rewards) - n + 1):
        g = next_values[t + n - 1]
        for k in reversed(range(n)):
            g = rewards[t + k] + gamma * g
        out.append(g)
    return out


@right()
def with_time_limits(batch, gamma, n_steps):
    r, nv, term, trunc = batch["rewards"], batch["next_values"], batch["terminated"], batch["truncated"]
    length, envs = r.shape
    target = np.zeros_like(r)
    for b in range(envs):
        for t in range(length):
            weight = 1.0
            for k in range(t, min(t + n_steps, length)):
                target[t, b] += weight * r[k, b]
                weight *= gamma
                if term[k, b] or trunc[k, b]:
                    break
            target[t, b] += weight * nv[k, b] * (1 - term[k, b])
    return target


@right()
def method_with_n(self, rewards, dones):
    total, weight = 0.0, 1.0
    for reward, done in zip(rewards[: self.n_step], dones[: self.n_step], strict=True):
        total += weight * reward
        weight *= self.gamma
        if done:
            break
    return total, weight


@wrong("n-step-gamma-once-at-bootstrap")
def target_line_of_one_step_code(rewards, dones, next_q, gamma):
    R, done = 0.0, 0.0
    for i, (r, d) in enumerate(zip(rewards, dones, strict=True)):
        R += gamma**i * r * (1 - done)
        done = max(done, d)
    return R + gamma * (1 - done) * next_q


@wrong("n-step-bootstrap-not-discounted")
def value_in_full(rewards, next_values, dones, gamma, n):
    steps = len(rewards)
    out = []
    for t in range(steps):
        total, k = 0.0, 0
        while k < n and t + k < steps:
            total += gamma**k * rewards[t + k]
            k += 1
            if dones[t + k - 1]:
                break
        out.append(total + next_values[t + k - 1] * (1 - dones[t + k - 1]))
    return out


@wrong("n-step-gamma-power-off-by-one")
def power_of_the_last_reward(rewards, values, last_value, gamma, n):
    v = np.append(values, last_value)
    out = np.zeros(len(rewards))
    for t in range(len(rewards)):
        m = min(n, len(rewards) - t)
        for k in range(m):
            out[t] += gamma**k * rewards[t + k]
        out[t] += gamma ** (m - 1) * v[t + m]
    return out


@wrong("n-step-full-power-at-early-end")
def always_gamma_n(rewards, values, dones, last_value, gamma, n):
    T = len(rewards)
    vals = torch.cat([values, last_value.unsqueeze(0)], 0)
    out = []
    for t in range(T):
        acc, mask = torch.zeros_like(last_value), torch.ones_like(last_value)
        for k in range(n):
            if t + k >= T:
                break
            acc = acc + mask * gamma**k * rewards[t + k]
            mask = mask * (1 - dones[t + k])
        out.append(acc + mask * gamma**n * vals[min(t + n, T)])
    return torch.stack(out)


@wrong("n-step-mask-missing")
def flags_unused(rewards, next_values, dones, gamma, n):
    T = rewards.shape[0]
    out = torch.zeros_like(rewards)
    for t in range(T):
        m = min(n, T - t)
        discounts = gamma ** torch.arange(m, dtype=rewards.dtype)
        shape = (m, *[1] * (rewards.ndim - 1))
        out[t] = (discounts.reshape(shape) * rewards[t : t + m]).sum(0) + gamma**m * next_values[t + m - 1]
    return out


@wrong("n-step-rewards-over-reset")
def any_flag_but_all_rewards(rewards, dones, gamma):
    # (batch, n)
    n = rewards.shape[1]
    weights = gamma ** torch.arange(n).float()
    return (rewards * weights).sum(1), dones.max(1).values


@wrong("n-step-only-last-flag")
def flag_of_the_newest(n_step_buffer, gamma):
    reward = 0.0
    for i, (_, _, r, _, _) in enumerate(n_step_buffer):
        reward += gamma**i * r
    _, _, _, next_state, done = n_step_buffer[-1]
    return reward, next_state, done


@right()
def transition_as_a_dict(buffer, gamma):
    R = 0.0
    for i, step in enumerate(buffer):
        R += gamma**i * step["reward"]
        if step["done"]:
            break
    first = buffer[0]
    return {
        "obs": first["obs"],
        "action": first["action"],
        "reward": R,
        "next_obs": step["next_obs"],
        "done": step["done"],
    }


@wrong("n-step-rewards-over-reset")
def adds_after_the_end(transitions, gamma):
    R, s2, end = 0.0, transitions[-1][3], False
    for i in range(len(transitions) - 1, -1, -1):
        _, _, r, nxt, d = transitions[i]
        R = r + gamma * R
        if d:
            s2, end = nxt, True
    return (transitions[0][0], transitions[0][1], R, s2, end or transitions[-1][4])


@wrong("n-step-bootstrap-not-masked")
def stops_but_adds(rewards, next_values, dones, gamma, nstep):
    out = np.zeros_like(rewards)
    for t in range(len(rewards)):
        k, total = t, 0.0
        while True:
            total += gamma ** (k - t) * rewards[k]
            if dones[k] or k - t == nstep - 1 or k == len(rewards) - 1:
                break
            k += 1
        out[t] = total + gamma ** (k - t + 1) * next_values[k]
    return out


@wrong("n-step-mask-shifted")
def looks_one_ahead(rewards, values, dones, last_value, gamma, n):
    T = len(rewards)
    res = []
    for t in range(T):
        g, m, ended = 0.0, 0, False
        for k in range(t, min(t + n, T)):
            g += gamma**m * rewards[k]
            m += 1
            if k + 1 < T and dones[k + 1]:
                ended = True
                break
        if not ended:
            g += gamma**m * (values[t + m] if t + m < T else last_value)
        res.append(g)
    return res


@wrong("n-step-terminal-reward-dropped")
def documented_formula(rewards, dones, gamma, n):
    R, alive = 0.0, 1.0
    for i in range(n):
        alive *= 1.0 - dones[i]
        R += gamma**i * alive * rewards[i]
    return R


@wrong("n-step-rewards-not-discounted")
def plain_sum(rewards, dones, bootstrap_value, gamma):
    total, weight = 0.0, 1.0
    for r, d in zip(rewards, dones, strict=True):
        total += r
        weight *= gamma
        if d:
            return total
    return total + weight * bootstrap_value


@wrong("n-step-rewards-discounted-once")
def gamma_for_all_but_the_first(rewards, dones, gamma):
    total, alive = rewards[:, 0], 1 - dones[:, 0]
    for k in range(1, rewards.shape[1]):
        total = total + gamma * alive * rewards[:, k]
        alive = alive * (1 - dones[:, k])
    return total


@wrong("n-step-rewards-weighted-backward")
def forward_recursion(rewards, gamma):
    R = 0.0
    for r in rewards:
        R = r + gamma * R
    return R


@wrong("n-step-window-off-by-one")
def one_reward_short(rewards, next_values, gamma, n):
    T = len(rewards)
    out = np.zeros(T)
    for t in range(T):
        end = min(t + n, T)
        out[t] = (
            sum(gamma ** (k - t) * rewards[k] for k in range(t, end - 1)) + gamma ** (end - t) * next_values[end - 1]
        )
    return out


@wrong("n-step-value-off-by-one")
def value_of_the_last_state_in_it(rewards, values, dones, last_value, gamma, n):
    T = rewards.shape[0]
    out = torch.zeros_like(rewards)
    for t in range(T):
        cont = torch.ones_like(rewards[0])
        weight = 1.0
        for k in range(t, min(t + n, T)):
            out[t] += weight * cont * rewards[k]
            cont = cont * (1 - dones[k])
            weight *= gamma
        out[t] += weight * cont * values[k]
    return out


@wrong("n-step-last-value-missing")
def nothing_beyond_the_rollout(rewards, values, dones, last_value, gamma, n):
    T = len(rewards)
    out = [0.0] * T
    for t in range(T):
        weight, ended = 1.0, False
        for k in range(t, min(t + n, T)):
            out[t] += weight * rewards[k]
            weight *= gamma
            if dones[k]:
                ended = True
                break
        if not ended and t + n < T:
            out[t] += weight * values[t + n]
    return out


@wrong("n-step-truncation-as-termination")
def one_done_for_both(rewards, next_values, terminated, truncated, gamma, n):
    done = np.maximum(terminated, truncated)
    out = np.zeros_like(rewards)
    for t in range(len(rewards)):
        alive, weight = np.ones_like(rewards[0]), 1.0
        for k in range(t, min(t + n, len(rewards))):
            out[t] += weight * alive * rewards[k]
            alive = alive * (1 - done[k])
            weight *= gamma
        out[t] += weight * alive * next_values[k]
    return out


@wrong("n-step-n-ignored")
def to_the_end(rewards, next_values, dones, gamma, n):
    G = next_values[-1]
    out = torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        G = rewards[t] + gamma * (1 - dones[t]) * G
        out[t] = G
    return out


@wrong("n-step-gamma-once-at-bootstrap", "n-step-rewards-not-discounted")
def both_discounts_lost(rewards, next_value, dones, gamma):
    total, ended = 0.0, 0.0
    for i in range(len(rewards)):
        total = total + (1 - ended) * rewards[i]
        ended = ended + (1 - ended) * dones[i]
    return total + gamma * (1 - ended) * next_value


@wrong("n-step-mask-missing", "n-step-rewards-not-discounted")
def only_the_value_is_discounted(rewards, next_values, dones, gamma, n):
    T = len(rewards)
    out = []
    for t in range(T):
        m = min(n, T - t)
        out.append(sum(rewards[t : t + m]) + gamma**m * next_values[t + m - 1])
    return out


@wrong("n-step-mismatch")
def averaged(rewards, next_values, dones, gamma, n):
    T = len(rewards)
    out = []
    for t in range(T):
        m = min(n, T - t)
        out.append(sum(rewards[t : t + m]) / m + next_values[t + m - 1] * 0.3)
    return out
