"""TD(0) targets and errors, as people write them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import torch

from tests.planted_functions import right, wrong

Losses = namedtuple("Losses", ["td_target", "td_error"])


@right()
def cleanrl_like(rewards, next_values, dones, gamma):
    with torch.no_grad():
        return rewards.flatten() + gamma * next_values.flatten() * (1 - dones.flatten())


@right()
def single_transition(r, v, v_next, done, gamma=0.99):
    if done:
        return r - v
    return r + gamma * v_next - v


@right()
def torchrl_like(gamma: float, next_state_value: torch.Tensor, reward: torch.Tensor, terminated: torch.Tensor):
    not_terminated = (~terminated).int()
    return reward + gamma * not_terminated * next_state_value


@right()
def both_in_a_dict(batch, discount):
    target = batch["reward"] + discount * np.where(batch["terminated"], 0.0, batch["next_value"])
    return {"td_target": target, "td_error": target - batch["value"]}


@right()
def consecutive(rewards, values, dones, gamma):
    return rewards + gamma * values[1:] * (1 - dones) - values[:-1]


@right()
def method_of_an_agent(self, reward, state_value, next_state_value, mask):
    target = reward + self.gamma * mask * next_state_value
    return Losses(target, target - state_value)


@right()
def rlax_like(v_tm1, r_t, discount_t, v_t):
    target_tm1 = r_t + discount_t * v_t
    return target_tm1 - v_tm1


@right()
def plain_lists(rewards, q_values, next_q_values, terminals):
    errors = []
    for r, q, q_next, end in zip(rewards, q_values, next_q_values, terminals, strict=True):
        errors.append(r + (0.0 if end else 0.9 * q_next) - q)
    return errors


@right()
def with_time_limits(reward, terminated, truncated, next_value, gamma):
    keeps_going = torch.logical_not(terminated.bool())
    return reward + gamma * next_value * keeps_going


@right()
def critic_and_batch(critic, batch, gamma=0.99):
    with torch.no_grad():
        next_v = critic(batch["next_states"]).squeeze(-1)
        target = batch["rewards"] + gamma * (1 - batch["dones"]) * next_v
    return target, target - critic(batch["states"]).squeeze(-1)


@right()
def tabular(V, s, r, s_prime, done, gamma):
    target = r if done else r + gamma * V[s_prime]
    return target - V[s]


@wrong("td-gamma-missing")
def tabular_undiscounted(values, state, reward, next_state, terminated):
    return reward + (1 - terminated) * values[next_state] - values[state]


@wrong("td-bootstraps-from-same-state")
def asked_for_the_same_state(value_net, obs, next_obs, reward, done, gamma):
    with torch.no_grad():
        return reward + gamma * (1 - done) * value_net(obs).flatten()


@wrong("td-mask-missing")
def flag_not_used(reward, value, next_value, done, gamma):
    return reward + gamma * next_value - value


@wrong("td-mask-inverted")
def done_for_not_done(rewards, next_q_values, dones, gamma):
    dones = dones.float()
    return rewards + gamma * dones * next_q_values


@wrong("td-truncation-as-termination")
def either_flag(batch, gamma):
    done = batch.terminated.bool() | batch.truncated.bool()
    target = batch.reward + gamma * (~done).float() * batch.next_value
    return target


@wrong("td-masked-by-truncation")
def the_fourth_value(r, terminated, truncated, v, v_next, gamma):
    return r + gamma * v_next * (1 - truncated) - v


@wrong("td-gamma-missing")
def no_discount(rews, vals, next_vals, terminals, gamma):
    return [r + nv * (1 - d) - v for r, v, nv, d in zip(rews, vals, next_vals, terminals, strict=True)]


@wrong("td-gamma-twice")
def discounts_and_gamma(reward, discount, next_values, gamma):
    return reward + gamma * discount * next_values


@wrong("td-reward-discounted")
def bracket_too_wide(self, rewards, next_values, not_done):
    return self.gamma * (rewards + not_done * next_values)


@wrong("td-reward-masked")
def everything_times_mask(rewards, next_state_values, masks, gamma):
    return (rewards + gamma * next_state_values) * masks


@wrong("td-error-masked")
def error_times_mask(reward, value, next_value, terminal, gamma):
    delta = reward + gamma * next_value - value
    delta[terminal > 0] = 0
    return delta


@wrong("td-bootstraps-from-same-state")
def wrong_variable(reward, value, next_value, done, gamma):
    target = reward + gamma * value * (1 - done)
    return target


@wrong("td-sign-flipped")
def value_first(reward, value, next_value, done, gamma):
    target = reward + (1 - done) * gamma * next_value
    return torch.sub(value, target)


@wrong("td-value-discounted")
def bracket_around_the_difference(r, v, v_prime, gamma):
    return r + gamma * (v_prime - v)


@wrong("td-reward-missing")
def only_the_bootstrap(reward, next_value, done, gamma):
    target = torch.zeros_like(reward)
    target[done == 0] = gamma * next_value[done == 0]
    return target


@wrong("td-rows-crossed")
def column_of_rewards(rewards, next_values, dones, gamma):
    rewards = rewards.reshape(-1, 1)
    return rewards + gamma * next_values.reshape(-1) * (1 - dones.reshape(-1))


@wrong("td-rows-crossed")
def value_head_not_squeezed(rewards, values, next_values, dones, gamma):
    target = rewards + gamma * next_values * (1 - dones)
    return target.view(-1) - values.view(-1, 1)


@wrong("td-mask-missing", "td-gamma-missing")
def neither(reward, value, next_value, done, gamma):
    return reward + next_value - value


@wrong("td-sign-flipped", "td-mask-missing")
def other_sign_and_no_mask(reward, next_value, done, value, gamma=0.99):
    return value - (reward + gamma * next_value)


@wrong("td-mismatch")
def squashed(reward, value, next_value, done, gamma):
    return np.tanh(reward + gamma * next_value * (1 - done)) - value
