"""Losses of Q-learning, as people write them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def cleanrl_like(q_network, target_network, data, args):
    with torch.no_grad():
        target_max, _ = target_network(data.next_observations).max(dim=1)
        td_target = data.rewards.flatten() + args.gamma * target_max * (1 - data.dones.flatten())
    old_val = q_network(data.observations).gather(1, data.actions.view(-1, 1)).squeeze()
    return F.mse_loss(td_target, old_val)


class Agent:
    @right()
    def sb3_like(self, replay_data):
        with torch.no_grad():
            next_q_values = self.q_net_target(replay_data.next_observations).max(dim=1)[0].reshape(-1, 1)
            target = replay_data.rewards + (1 - replay_data.dones) * self.gamma * next_q_values
        current = torch.gather(self.q_net(replay_data.observations), dim=1, index=replay_data.actions.long())
        return F.smooth_l1_loss(current, target)

    @right()
    def learn(self, experiences, gamma):
        states, actions, rewards, next_states, dones = experiences
        best = self.qnetwork_target(next_states).detach().max(1)[0].unsqueeze(1)
        target = rewards + gamma * best * (1 - dones)
        expected = self.qnetwork_local(states).gather(1, actions.long())
        loss = F.mse_loss(expected, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @wrong("dqn-loss-target-not-detached")
    def one_network(self, batch):
        s, a, r, s2, d = batch["s"], batch["a"], batch["r"], batch["s2"], batch["d"]
        y = r + self.gamma * (1 - d) * self.q_net(s2).max(1)[0]
        return ((self.q_net(s)[torch.arange(len(a)), a] - y) ** 2).mean()


sb3_like, learn, one_network = Agent.sb3_like, Agent.learn, Agent.one_network


@right()
def one_network_held_still(q_net, obs, act, rew, next_obs, done, gamma):
    with torch.no_grad():
        target = rew + gamma * (1 - done) * q_net(next_obs).max(1).values
    q = q_net(obs)[torch.arange(len(act)), act]
    return 0.5 * (q - target).pow(2).mean()


@right()
def double_and_weighted(online_net, target_net, obs, actions, rewards, next_obs, dones, weights, gamma):
    with torch.no_grad():
        best = online_net(next_obs).argmax(1, keepdim=True)
        target = rewards + gamma * (1 - dones) * target_net(next_obs).gather(1, best).squeeze(1)
    q = online_net(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
    error = target - q
    return (weights * F.huber_loss(q, target, reduction="none")).mean(), error.abs().detach()


@right()
def of_arrays(q_values, actions, rewards, next_q_values, dones, gamma):
    mask = F.one_hot(actions.long(), q_values.shape[-1])
    q = (q_values * mask).sum(-1)
    y = rewards + gamma * next_q_values.max(-1).values.detach() * (1 - dones)
    return ((y - q) ** 2).mean()


@right()
def in_numpy(q, a, r, q_next, done, gamma=0.99):
    total = 0.0
    for i in range(len(r)):
        y = r[i] if done[i] else r[i] + gamma * np.max(q_next[i])
        total += (y - q[i][int(a[i])]) ** 2
    return total / len(r)


@right()
def n_step_summed(q_net, target_net, batch, gamma, n_step):
    target = batch.rew + gamma**n_step * (1 - batch.terminated) * target_net(batch.obs_next).max(1)[0].detach()
    q = q_net(batch.obs)[range(len(batch.act)), batch.act]
    return (q - target).pow(2).sum()


@right()
def pytorch_tutorial_like(policy_net, target_net, state_batch, action_batch, reward_batch, next_states, dones, GAMMA):
    criterion = torch.nn.SmoothL1Loss()
    state_action_values = policy_net(state_batch).gather(1, action_batch.long().reshape(-1, 1))
    with torch.no_grad():
        next_state_values = target_net(next_states).max(1).values * (1 - dones.reshape(-1))
    expected = next_state_values * GAMMA + reward_batch.reshape(-1)
    return criterion(state_action_values, expected.unsqueeze(1))


# ── wrong ──


@wrong("dqn-loss-mask-missing")
def never_ends(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    with torch.no_grad():
        y = rewards + gamma * target_net(next_obs).max(1)[0]
    return F.mse_loss(q_net(obs).gather(1, actions[:, None]).squeeze(1), y)


@wrong("dqn-loss-mask-inverted")
def upside_down(q, actions, rewards, next_q, dones, gamma):
    y = rewards + gamma * dones * next_q.max(1)[0].detach()
    return F.smooth_l1_loss(q.gather(1, actions[:, None]).squeeze(1), y)


@wrong("dqn-loss-truncation-as-termination")
def limits_are_ends(model, target_model, obs, act, rew, next_obs, terminated, truncated, gamma):
    with torch.no_grad():
        over = torch.maximum(terminated, truncated)
        y = rew + gamma * (1 - over) * target_model(next_obs).amax(1)
    return (model(obs).gather(1, act[:, None])[:, 0] - y).square().mean()


@wrong("dqn-loss-target-not-detached")
def residual(net, states, actions, rewards, next_states, dones, gamma):
    target = rewards + (1 - dones) * gamma * net(next_states).max(dim=1).values
    return F.mse_loss(net(states).gather(1, actions.view(-1, 1)).view(-1), target)


@wrong("dqn-loss-online-target")
def target_forgotten(q_net, target_net, batch, gamma):
    next_q = q_net(batch.next_obs).max(1).values.detach()
    y = batch.reward + gamma * (1 - batch.done) * next_q
    q = q_net(batch.obs).gather(1, batch.action.long().unsqueeze(-1)).squeeze(-1)
    return ((q - y) ** 2).mean()


@wrong("dqn-loss-networks-swapped")
def swapped(policy_net, target_net, s, a, r, s_next, done, gamma):
    q = target_net(s).gather(1, a.long()[:, None]).squeeze(1)
    with torch.no_grad():
        y = r + gamma * (1 - done) * policy_net(s_next).max(1).values
    return F.mse_loss(q, y)


@wrong("dqn-loss-prediction-by-target")
def all_by_target(q_net, target_net, s, a, r, s_next, done, gamma):
    q = target_net(s).gather(1, a.long()[:, None]).squeeze(1)
    y = (r + gamma * (1 - done) * target_net(s_next).max(1).values).detach()
    return F.mse_loss(q, y)


@wrong("dqn-loss-best-action-predicted")
def best_for_taken(q_values, actions, rewards, next_q_values, dones, gamma):
    target = rewards + gamma * (1 - dones) * next_q_values.max(1).values.detach()
    return (q_values.max(1).values - target).pow(2).mean()


@wrong("dqn-loss-all-actions")
def everything_at_once(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    y = (rewards + gamma * (1 - dones) * target_net(next_obs).max(1).values).detach()
    return ((q_net(obs) - y.unsqueeze(1)) ** 2).mean()


@wrong("dqn-loss-broadcast")
def column_and_row(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    q = q_net(obs).gather(1, actions.view(-1, 1))
    with torch.no_grad():
        y = rewards.view(-1) + gamma * (1 - dones.view(-1)) * target_net(next_obs).max(1)[0]
    return ((q - y) ** 2).mean()


@wrong("dqn-loss-prediction-detached")
def nothing_to_train(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    with torch.no_grad():
        q = q_net(obs).gather(1, actions.view(-1, 1)).view(-1)
    y = rewards + gamma * (1 - dones) * target_net(next_obs).max(1)[0]
    return F.mse_loss(q, y)


@wrong("dqn-loss-not-squared")
def signed(q, acts, rews, next_q, dones, gamma):
    y = rews + gamma * next_q.max(1)[0] * (1 - dones)
    return (q[torch.arange(len(acts)), acts] - y.detach()).mean()


@wrong("dqn-loss-sign-flipped")
def climbs(q, acts, rews, next_q, dones, gamma):
    y = rews + gamma * next_q.max(1)[0] * (1 - dones)
    return -F.mse_loss(q[torch.arange(len(acts)), acts], y.detach())


@wrong("dqn-loss-gamma-missing")
def undiscounted(q_net, target_net, minibatch, gamma):
    states, actions, rewards, next_states, dones = minibatch
    y = rewards + (1 - dones) * target_net(next_states).max(1)[0].detach()
    return F.huber_loss(q_net(states).gather(1, actions[:, None])[:, 0], y)


@wrong("dqn-loss-current-state")
def looks_at_itself(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    y = rewards + gamma * (1 - dones) * target_net(obs).max(1)[0].detach()
    return F.mse_loss(q_net(obs).gather(1, actions[:, None])[:, 0], y)


@wrong("dqn-loss-weights-ignored")
def unweighted(q_net, target_net, obs, actions, rewards, next_obs, dones, weights, gamma):
    y = rewards + gamma * (1 - dones) * target_net(next_obs).max(1)[0].detach()
    return F.mse_loss(q_net(obs).gather(1, actions[:, None])[:, 0], y)


@wrong("dqn-loss-weights-after-mean")
def weighted_too_late(q_net, target_net, obs, actions, rewards, next_obs, dones, is_weights, gamma):
    y = rewards + gamma * (1 - dones) * target_net(next_obs).max(1)[0].detach()
    return (is_weights * F.mse_loss(q_net(obs).gather(1, actions[:, None])[:, 0], y)).mean()


@wrong("dqn-loss-wrong-axis")
def over_the_batch(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    y = rewards + gamma * (1 - dones) * target_net(next_obs).max(0)[0].detach()
    return F.mse_loss(q_net(obs).gather(1, actions[:, None])[:, 0], y)


@wrong("dqn-loss-reward-missing")
def for_nothing(q, actions, rewards, next_q, dones, gamma):
    y = gamma * (1 - dones) * np.max(next_q, axis=1)
    return np.mean((q[np.arange(len(actions)), actions] - y) ** 2)


@wrong("dqn-loss-mask-missing", "dqn-loss-broadcast")
def endless_and_crossed(q_net, target_net, obs, actions, rewards, next_obs, dones, gamma):
    y = rewards.flatten() + gamma * target_net(next_obs).max(1)[0].detach()
    return (q_net(obs).gather(1, actions.view(-1, 1)) - y).pow(2).mean()


@wrong("dqn-loss-gamma-missing", "dqn-loss-best-action-predicted")
def two_at_once(q, actions, rewards, next_q, dones, gamma):
    y = rewards + (1 - dones) * next_q.max(1)[0].detach()
    return F.mse_loss(q.max(1)[0], y)


@wrong("dqn-loss-mismatch")
def fourth_power(q, actions, rewards, next_q, dones, gamma):
    y = rewards + gamma * (1 - dones) * next_q.max(1)[0].detach()
    return ((q.gather(1, actions[:, None])[:, 0] - y) ** 4).mean()


@wrong("dqn-loss-mean-squared")
def square_of_the_mean(q_net, q_target_net, s, a, r, s_prime, dones, gamma=0.98):
    best = q_target_net(s_prime).max(1)[0].unsqueeze(1).detach()
    target = r.view(-1, 1) + gamma * best * (1 - dones.view(-1, 1))
    return (q_net(s).gather(1, a.view(-1, 1)) - target).mean().pow(2)


@right()
def spinning_up_like(data, q, q_targ, gamma=0.99):
    o, a, r, o2, d = data["obs"], data["act"], data["rew"], data["obs2"], data["done"]
    q_sa = q(o)[torch.arange(len(r)), a.long()]
    with torch.no_grad():
        backup = r + gamma * (1 - d) * q_targ(o2).amax(dim=-1)
    return ((q_sa - backup) ** 2).mean()
