"""Targets of TD3, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

# ── sound ──


class TD3:
    @right()
    def authors_like(self, batch):
        action, next_state, reward, not_done = batch.action, batch.next_state, batch.reward, batch.not_done
        with torch.no_grad():
            noise = (torch.randn_like(action) * self.policy_noise).clamp(-self.noise_clip, self.noise_clip)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_Q1, target_Q2 = self.critic_target(next_state, next_action)
            target_Q = torch.min(target_Q1, target_Q2)
            return reward + not_done * self.discount * target_Q

    @right()
    def sb3_like(self, replay_data):
        with torch.no_grad():
            noise = replay_data.actions.clone().data.normal_(0, self.target_policy_noise)
            noise = noise.clamp(-self.target_noise_clip, self.target_noise_clip)
            next_actions = (self.actor_target(replay_data.next_observations) + noise).clamp(-1, 1)
            next_q_values = torch.cat(self.critic_target(replay_data.next_observations, next_actions), dim=1)
            next_q_values, _ = torch.min(next_q_values, dim=1, keepdim=True)
            return replay_data.rewards + (1 - replay_data.dones) * self.gamma * next_q_values


authors_like, sb3_like = TD3.authors_like, TD3.sb3_like


@right()
def spinning_up_like(ac_targ, data, gamma, target_noise, noise_clip, act_limit):
    r, o2, d = data["rew"], data["obs2"], data["done"]
    pi_targ = ac_targ.pi(o2)
    epsilon = torch.randn_like(pi_targ) * target_noise
    epsilon = torch.clamp(epsilon, -noise_clip, noise_clip)
    a2 = torch.clamp(pi_targ + epsilon, -act_limit, act_limit)
    q_pi_targ = torch.min(ac_targ.q1(o2, a2), ac_targ.q2(o2, a2))
    return r + gamma * (1 - d) * q_pi_targ


@right()
def cleanrl_like(target_actor, qf1_target, qf2_target, data, args, action_low, action_high):
    clipped_noise = (torch.randn_like(data.actions) * args.policy_noise).clamp(-args.noise_clip, args.noise_clip)
    next_state_actions = (target_actor(data.next_observations) + clipped_noise).clamp(action_low, action_high)
    qf1_next_target = qf1_target(data.next_observations, next_state_actions)
    qf2_next_target = qf2_target(data.next_observations, next_state_actions)
    min_qf_next_target = torch.min(qf1_next_target, qf2_next_target)
    return data.rewards.flatten() + (1 - data.dones.flatten()) * args.gamma * min_qf_next_target.view(-1)


@right()
def of_arrays(rewards, dones, q1_next, q2_next, gamma):
    return rewards + gamma * (1 - dones) * np.minimum(q1_next, q2_next)


@right()
def by_hand(rewards, terminated, truncated, next_q1, next_q2, gamma):
    return [r if t else r + gamma * min(a, b) for r, t, a, b in zip(rewards, terminated, next_q1, next_q2, strict=True)]


@right()
def noise_handed_over(actor_target, critic1_target, critic2_target, next_obs, rewards, dones, noise, noise_clip, gamma):
    a = (actor_target(next_obs) + noise.clamp(-noise_clip, noise_clip)).clamp(-1, 1)
    q = torch.min(critic1_target(next_obs, a), critic2_target(next_obs, a)).squeeze(1)
    return rewards + gamma * (1 - dones) * q


@right()
def numbers_of_its_own(actor_target, critic_target, next_obs, rewards, dones, gamma):
    a = actor_target(next_obs)
    noise = torch.normal(0, 0.2, size=a.shape).clamp(-0.5, 0.5)
    q1, q2 = critic_target(next_obs, (a + noise).clamp(-1, 1))
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


# ── wrong ──


def _smooth(actor_target, next_obs, sigma, clip):
    a = actor_target(next_obs)
    return (a + (torch.randn_like(a) * sigma).clamp(-clip, clip)).clamp(-1, 1)


@wrong("td3-target-mask-missing")
def never_ends(rewards, dones, next_q1, next_q2, gamma):
    return rewards + gamma * torch.min(next_q1, next_q2)


@wrong("td3-target-mask-inverted")
def upside_down(rewards, dones, next_q1, next_q2, gamma):
    return rewards + gamma * dones * np.minimum(next_q1, next_q2)


@wrong("td3-target-truncation-as-termination")
def limits_are_ends(rewards, terminated, truncated, next_q1, next_q2, gamma):
    alive = (1 - terminated) * (1 - truncated)
    return rewards + gamma * alive * torch.min(next_q1, next_q2)


@wrong("td3-target-max-for-min")
def the_luckier(actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    q1, q2 = critic_target(next_obs, _smooth(actor_target, next_obs, policy_noise, noise_clip))
    return rewards + gamma * (1 - dones) * torch.max(q1, q2)


@wrong("td3-target-mean-of-twins")
def averaged(rewards, dones, next_q1, next_q2, gamma):
    return [r + (1 - d) * gamma * (a + b) / 2 for r, d, a, b in zip(rewards, dones, next_q1, next_q2, strict=True)]


@wrong("td3-target-one-critic")
def ddpg_like(rewards, dones, next_q1, next_q2, gamma):
    return rewards + gamma * (1 - dones) * next_q1


@wrong("td3-target-noise-not-clipped")
def wild(actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip, max_action):
    a = actor_target(next_obs)
    a = (a + torch.randn_like(a) * policy_noise).clamp(-max_action, max_action)
    q1, q2 = critic_target(next_obs, a)
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-noise-not-clipped")
def clipped_too_early(
    actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip, max_action
):
    a = actor_target(next_obs)
    noise = torch.randn_like(a).clamp(-noise_clip, noise_clip) * policy_noise
    q1, q2 = critic_target(next_obs, (a + noise).clamp(-max_action, max_action))
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-action-not-clipped")
def out_of_range(actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip, max_action):
    a = actor_target(next_obs)
    a = a + (torch.randn_like(a) * policy_noise).clamp(-noise_clip, noise_clip)
    q1, q2 = critic_target(next_obs, a)
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-smoothing-missing")
def unsmoothed(actor_target, qf1_target, qf2_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    a = actor_target(next_obs)
    return rewards + gamma * (1 - dones) * torch.min(qf1_target(next_obs, a), qf2_target(next_obs, a))


@wrong("td3-target-noise-shared")
def one_for_all(actor_target, critic_target, batch, gamma, policy_noise, noise_clip, max_action):
    noise = (torch.randn_like(batch.actions[0]) * policy_noise).clamp(-noise_clip, noise_clip)
    a = (actor_target(batch.next_obs) + noise).clamp(-max_action, max_action)
    q1, q2 = critic_target(batch.next_obs, a)
    return batch.rewards + gamma * (1 - batch.dones) * torch.min(q1, q2)


@wrong("td3-target-online-networks")
def online_actor(actor, actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    q1, q2 = critic_target(next_obs, _smooth(actor, next_obs, policy_noise, noise_clip))
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-online-networks")
def online_critics(actor_target, critic, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    q1, q2 = critic(next_obs, _smooth(actor_target, next_obs, policy_noise, noise_clip))
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-gamma-missing")
def undiscounted(rewards, dones, next_q1, next_q2, gamma):
    return rewards + (1 - dones) * torch.min(next_q1, next_q2)


@wrong("td3-target-broadcast")
def mixed_shapes(rewards, dones, next_q1, next_q2, gamma):
    return rewards.view(-1) + gamma * (1 - dones.view(-1)) * torch.min(next_q1, next_q2).view(-1, 1)


@wrong("td3-target-action-taken")
def same_action(actor_target, critic_target, actions, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    q1, q2 = critic_target(next_obs, actions)
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)


@wrong("td3-target-mask-missing", "td3-target-max-for-min")
def two_at_once(rewards, dones, next_q1, next_q2, gamma):
    return rewards + gamma * np.maximum(next_q1, next_q2)


@wrong("td3-target-noise-not-clipped", "td3-target-one-critic")
def two_others(actor_target, critic_target, next_obs, rewards, dones, gamma, policy_noise, noise_clip, max_action):
    a = actor_target(next_obs)
    a = (a + torch.randn_like(a) * policy_noise).clamp(-max_action, max_action)
    q1, _ = critic_target(next_obs, a)
    return rewards + gamma * (1 - dones) * q1


@wrong("td3-target-mismatch")
def product(rewards, dones, next_q1, next_q2, gamma):
    return rewards + gamma * (1 - dones) * next_q1 * next_q2


@right()
def ddpg_target(actor_target, critic_target, next_obs, rewards, dones, gamma):
    return rewards + gamma * (1 - dones) * critic_target(next_obs, actor_target(next_obs))


@wrong("td3-target-action-of-current-state")
def actor_of_now(actor_target, critic_target, obs, next_obs, rewards, dones, gamma, policy_noise, noise_clip):
    q1, q2 = critic_target(next_obs, _smooth(actor_target, obs, policy_noise, noise_clip))
    return rewards + gamma * (1 - dones) * torch.min(q1, q2)
