"""Targets of Q-learning, as people write them."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def cleanrl_like(target_network, data, args):
    with torch.no_grad():
        target_max, _ = target_network(data.next_observations).max(dim=1)
        return data.rewards.flatten() + args.gamma * target_max * (1 - data.dones.flatten())


@right()
def sb3_like(q_net_target, replay_data, gamma: float):
    next_q_values = q_net_target(replay_data.next_observations)
    next_q_values, _ = next_q_values.max(dim=1)
    next_q_values = next_q_values.reshape(-1, 1)
    return replay_data.rewards + (1 - replay_data.dones) * gamma * next_q_values


@right()
def double_of_networks(online_net, target_net, next_states, rewards, dones, discount):
    best = online_net(next_states).argmax(dim=1, keepdim=True)
    worth = target_net(next_states).gather(1, best).squeeze(1)
    return rewards + discount * (1.0 - dones) * worth


@right()
def double_of_arrays(r, d, q_next_online, q_next_target, g=0.99):
    best = np.argmax(q_next_online, axis=-1)
    return r + g * (1 - d) * np.take_along_axis(q_next_target, best[:, None], axis=-1)[:, 0]


@right()
def by_hand(rewards, next_qs, terminals, gamma):
    targets = []
    for reward, qs, terminal in zip(rewards, next_qs, terminals, strict=True):
        targets.append(reward if terminal else reward + gamma * max(qs))
    return targets


@right()
def one_transition(reward, next_q_values, done, gamma):
    if done:
        return reward
    return reward + gamma * np.max(next_q_values)


@right()
def keras_like(model, target_model, batch, gamma):
    states, actions, rewards, next_states, dones = batch  # noqa: RUF059
    future = target_model.predict(next_states, verbose=0)
    return rewards + gamma * np.amax(future, axis=1) * (1 - dones)


@right()
def n_step_target(n_step_rewards, next_obs, dones, target_q_net, gamma, n_step):
    return n_step_rewards + gamma**n_step * (1 - dones) * target_q_net(next_obs).max(-1).values


class Agent(nn.Module):
    def __init__(self):
        super().__init__()

    @right()
    def method_with_everything(self, transitions):
        obs, actions, rewards, next_obs, terminated, truncated = transitions  # noqa: RUF059
        with torch.no_grad():
            greedy = self.q_network(next_obs).max(1)[1]
            value = self.target_network(next_obs)[torch.arange(len(rewards)), greedy]
        return rewards + self.gamma * value * (~terminated.bool()).float()


method_with_everything = Agent.method_with_everything


@right()
def best_handed_over(rewards, masks, max_next_q, gamma):
    return rewards + gamma * masks * max_next_q


@right()
def atari_like(rewards, dones, next_q, gamma=0.99):
    rewards = torch.clamp(rewards, -1, 1)
    return rewards + gamma * (1 - dones) * next_q.max(1)[0]


@right()
def rlax_like(r_t, discount_t, q_t):
    return r_t + discount_t * q_t.max(-1)[0]


@right()
def pytorch_tutorial_like(target_net, non_final_next_states, non_final_mask, reward_batch, GAMMA):
    next_state_values = torch.zeros(len(reward_batch))
    with torch.no_grad():
        next_state_values[non_final_mask.bool()] = target_net(non_final_next_states).max(1).values
    return next_state_values * GAMMA + reward_batch


# ── wrong ──


@wrong("dqn-target-mask-missing")
def never_ends(target_net, next_obs, rewards, dones, gamma):
    return rewards + gamma * target_net(next_obs).max(dim=1)[0]


@wrong("dqn-target-mask-missing")
def never_ends_by_hand(rewards, dones, next_q, gamma):
    return [r + gamma * max(q) for r, q in zip(rewards, next_q, strict=True)]


@wrong("dqn-target-mask-inverted")
def only_at_the_end(batch, target_network, gamma):
    q = target_network(batch["next_obs"]).max(1).values
    return batch["reward"] + batch["done"] * gamma * q


@wrong("dqn-target-truncation-as-termination")
def limits_are_ends(reward, terminated, truncated, next_q, gamma):
    done = np.logical_or(terminated, truncated)
    return reward + gamma * np.max(next_q, axis=1) * (1 - done)


@wrong("dqn-target-wrong-axis")
def over_the_batch(r, done, q_next, gamma):
    return r + gamma * (1 - done) * q_next.max(0)[0]


@wrong("dqn-target-wrong-axis")
def of_everything(rewards, dones, next_q_values, gamma):
    return rewards + gamma * (1 - dones) * np.max(next_q_values)


@wrong("dqn-target-online-network")
def chases_itself(policy_net, target_net, next_state_batch, reward_batch, done_batch, gamma):
    next_values = policy_net(next_state_batch).max(1)[0].detach()
    return reward_batch + (1 - done_batch) * gamma * next_values


@wrong("dqn-target-roles-swapped")
def the_other_way_round(online, target, next_obs, rewards, dones, gamma):
    actions = target(next_obs).argmax(1, keepdim=True)
    return rewards + gamma * (1 - dones) * online(next_obs).gather(1, actions).squeeze(-1)


@wrong("dqn-target-double-in-name-only")
def double_q(rewards, dones, next_q_online, next_q_target, gamma):
    a = next_q_target.argmax(1)
    return rewards + gamma * (1 - dones) * next_q_target[range(len(a)), a]


@wrong("dqn-target-double-in-name-only")
def ddqn_target(q_net, target_net, next_obs, rewards, dones, gamma):
    return rewards + gamma * (1 - dones) * target_net(next_obs).max(1).values


@wrong("dqn-target-gamma-missing")
def undiscounted(r, d, next_q, gamma):
    y = r.clone()
    for i in range(len(r)):
        if not d[i]:
            y[i] += next_q[i].max()
    return y


@wrong("dqn-target-gamma-twice")
def discounted_again(target_net, batch, gamma):
    next_q = gamma * target_net(batch.next_state).max(1)[0]
    return batch.reward + gamma * next_q * (1 - batch.done)


@wrong("dqn-target-current-state")
def looks_at_itself(target_net, states, next_states, rewards, dones, gamma):
    return rewards + gamma * target_net(states).max(1)[0] * (1 - dones)


@wrong("dqn-target-current-state")
def current_values(rewards, q, next_q, dones, gamma):
    return rewards + gamma * q.max(1)[0] * (1 - dones)


@wrong("dqn-target-min-for-max")
def pessimist(rew, done, qs_next, gamma):
    return np.asarray(rew) + gamma * np.asarray(qs_next).min(axis=1) * (1 - np.asarray(done))


@wrong("dqn-target-mean-for-max")
def average(rewards, dones, next_q, gamma):
    return rewards + (1 - dones) * gamma * next_q.mean(dim=1)


@wrong("dqn-target-index-as-value")
def takes_the_index(target_net, next_obs, rewards, dones, gamma):
    best = torch.max(target_net(next_obs), dim=1)[1]
    return rewards + gamma * best * (1 - dones)


@wrong("dqn-target-next-action-taken")
def same_action_again(target_net, next_obs, actions, rewards, dones, gamma):
    q = target_net(next_obs).gather(1, actions.long().view(-1, 1)).view(-1)
    return rewards.view(-1) + gamma * (1 - dones.view(-1)) * q


@wrong("dqn-target-broadcast")
def mixed_shapes(target_net, next_obs, rewards, dones, gamma):
    best = target_net(next_obs).max(1)[0]
    return rewards.reshape(-1, 1) + gamma * best * (1 - dones.reshape(-1, 1))


@wrong("dqn-target-broadcast")
def kept_dimension(next_q, rewards, dones, gamma):
    return rewards.flatten() + gamma * next_q.max(1, keepdim=True)[0] * (1 - dones.flatten())


@wrong("dqn-target-reward-missing")
def what_follows(rewards, next_q, dones, gamma):
    return gamma * next_q.max(1)[0] * (1 - dones)


@wrong("dqn-target-mask-on-reward")
def all_is_lost_at_the_end(rewards, next_q, dones, gamma):
    target = rewards + gamma * np.max(next_q, axis=1)
    target[dones.astype(bool)] = 0.0
    return target


@wrong("dqn-target-clipped")
def too_careful(rewards, next_q, dones, gamma):
    return torch.clip(rewards + gamma * next_q.max(1).values * (1 - dones), -1.0, 1.0)


@wrong("dqn-target-gamma-not-to-the-n")
def forgets_n(rewards, next_q, dones, gamma, n_steps):
    return rewards + gamma * next_q.max(1).values * (1 - dones)


@wrong("dqn-target-reward-discounted")
def all_discounted(rewards, next_q, dones, gamma):
    return [gamma * (r + (0 if d else max(q))) for r, q, d in zip(rewards, next_q, dones, strict=True)]


@wrong("dqn-target-sign-flipped")
def minus(rewards, next_q, dones, gamma):
    return rewards - gamma * next_q.max(1).values * (1 - dones)


@wrong("dqn-target-mask-missing", "dqn-target-gamma-missing")
def neither(r, done, next_qs, gamma):
    return r + next_qs.max(axis=1)


@wrong("dqn-target-online-network", "dqn-target-mask-missing")
def online_for_ever(q_net, target_net, batch, gamma):
    rewards, next_obs, dones = batch.rewards, batch.next_obs, batch.dones
    return rewards + gamma * q_net(next_obs).max(1).values + 0 * dones


@wrong("dqn-target-mean-for-max", "dqn-target-mask-on-reward")
def soft_and_dropped(rewards, dones, next_q, gamma):
    return (1 - dones) * (rewards + gamma * next_q.sum(1) / next_q.shape[1])


@wrong("dqn-target-mismatch")
def squared(rewards, dones, next_q, gamma):
    return rewards + gamma * (1 - dones) * next_q.max(1).values ** 2 / 3


class Mario:
    @right()
    def one_network_for_both(self, reward, next_state, done):
        best = torch.argmax(self.net(next_state, model="online"), axis=1)
        following = self.net(next_state, model="target")[np.arange(0, self.batch_size), best]
        return (reward + (1 - done.float()) * self.config["gamma"] * following).float()


one_network_for_both = Mario.one_network_for_both


@right()
def assigned_by_flag(target_net, reward_batch, next_state_batch, done_batch, gamma=0.99):
    following = target_net(next_state_batch).max(1)[0].detach()
    following[done_batch] = 0
    return following * gamma + reward_batch
