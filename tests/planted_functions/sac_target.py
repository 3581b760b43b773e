"""Targets of soft actor-critic, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def cleanrl_like(actor, qf1_target, qf2_target, data, alpha, args):
    with torch.no_grad():
        next_state_actions, next_state_log_pi, _ = actor.get_action(data.next_observations)
        qf1_next_target = qf1_target(data.next_observations, next_state_actions)
        qf2_next_target = qf2_target(data.next_observations, next_state_actions)
        min_qf_next_target = torch.min(qf1_next_target, qf2_next_target) - alpha * next_state_log_pi
        return data.rewards.flatten() + (1 - data.dones.flatten()) * args.gamma * (min_qf_next_target).view(-1)


@right()
def spinning_up_like(ac, ac_targ, data, gamma, alpha):
    r, o2, d = data["rew"], data["obs2"], data["done"]
    with torch.no_grad():
        a2, logp_a2 = ac.pi(o2)
        q1_pi_targ = ac_targ.q1(o2, a2)
        q2_pi_targ = ac_targ.q2(o2, a2)
        q_pi_targ = torch.min(q1_pi_targ, q2_pi_targ)
        return r + gamma * (1 - d) * (q_pi_targ - alpha * logp_a2)


class Agent:
    @right()
    def sb3_like(self, replay_data, ent_coef):
        with torch.no_grad():
            next_actions, next_log_prob = self.actor.action_log_prob(replay_data.next_observations)
            next_q_values = torch.cat(self.critic_target(replay_data.next_observations, next_actions), dim=1)
            next_q_values, _ = torch.min(next_q_values, dim=1, keepdim=True)
            next_q_values = next_q_values - ent_coef * next_log_prob.reshape(-1, 1)
            return replay_data.rewards + (1 - replay_data.dones) * self.gamma * next_q_values

    @right()
    def higgsfield_like(self, reward, next_state, done, gamma=0.99):
        new_next_action, next_log_prob, _ = self.policy_net.evaluate(next_state)
        least = torch.min(
            self.target_soft_q_net1(next_state, new_next_action), self.target_soft_q_net2(next_state, new_next_action)
        )
        return reward + (1 - done) * gamma * (least - self.alpha * next_log_prob)


sb3_like, higgsfield_like = Agent.sb3_like, Agent.higgsfield_like


@right()
def of_arrays(r, d, q1_next, q2_next, logp_next, alpha, gamma):
    return r + gamma * (1 - d) * (np.minimum(q1_next, q2_next) - alpha * logp_next)


@right()
def by_hand(rewards, dones, next_q1, next_q2, next_log_probs, temperature, discount):
    out = []
    for i in range(len(rewards)):
        soft = min(next_q1[i], next_q2[i]) - temperature * next_log_probs[i]
        out.append(rewards[i] + (0 if dones[i] else discount * soft))
    return out


@right()
def log_alpha_given(rewards, masks, next_q1, next_q2, next_logp, log_alpha, gamma):
    alpha = np.exp(log_alpha)
    return rewards + gamma * masks * (torch.min(next_q1, next_q2) - alpha * next_logp)


@right()
def least_given(rewards, terminated, truncated, min_next_q, next_logp, alpha, gamma):
    return rewards + gamma * torch.logical_not(terminated) * (min_next_q - alpha * next_logp)


@right()
def both_in_one_input(policy, target_q1, target_q2, next_states, rewards, dones, alpha, gamma):
    action, logp = policy.sample(next_states)
    together = torch.cat([next_states, action], dim=-1)
    least = torch.minimum(target_q1(together), target_q2(together))
    return rewards + gamma * (1 - dones) * (least - alpha * logp)


# ── wrong ──


@wrong("sac-target-mask-missing")
def never_ends(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (torch.min(next_q1, next_q2) - alpha * next_logp)


@wrong("sac-target-mask-inverted")
def upside_down(actor, critic_target, next_obs, rewards, dones, alpha, gamma):
    a, logp, _ = actor.sample(next_obs)
    q1, q2 = critic_target(next_obs, a)
    return rewards + gamma * dones * (torch.min(q1, q2) - alpha * logp)


@wrong("sac-target-truncation-as-termination")
def limits_are_ends(rewards, terminated, truncated, next_q1, next_q2, next_logp, alpha, gamma):
    done = (terminated + truncated).clip(0, 1)
    return rewards + gamma * (1 - done) * (torch.min(next_q1, next_q2) - alpha * next_logp)


@wrong("sac-target-max-for-min")
def the_luckier(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (np.maximum(next_q1, next_q2) - alpha * next_logp)


@wrong("sac-target-mean-of-twins")
def averaged(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (0.5 * next_q1 + 0.5 * next_q2 - alpha * next_logp)


@wrong("sac-target-one-critic")
def only_one(actor, qf1_target, qf2_target, next_obs, rewards, dones, alpha, gamma):
    a, logp, _ = actor.get_action(next_obs)
    return rewards + gamma * (1 - dones) * (qf1_target(next_obs, a) - alpha * logp)


@wrong("sac-target-one-critic")
def one_named_twice(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (torch.min(next_q2, next_q2) - alpha * next_logp)


@wrong("sac-target-entropy-sign")
def plus(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    v = torch.min(next_q1, next_q2) + alpha * next_logp
    return rewards + (1 - dones) * gamma * v


@wrong("sac-target-alpha-missing")
def no_temperature(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (torch.min(next_q1, next_q2) - next_logp)


@wrong("sac-target-entropy-missing")
def no_entropy(actor, critic_target, batch, alpha, gamma):
    a, _, _ = actor.sample(batch["next_obs"])
    q1, q2 = critic_target(batch["next_obs"], a)
    return batch["reward"] + gamma * (1 - batch["done"]) * torch.min(q1, q2)


@wrong("sac-target-log-alpha-as-alpha")
def not_exponentiated(rewards, dones, next_q1, next_q2, next_logp, log_alpha, gamma):
    return rewards + gamma * (1 - dones) * (torch.min(next_q1, next_q2) - log_alpha * next_logp)


@wrong("sac-target-entropy-outside")
def outside(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * np.minimum(next_q1, next_q2) - alpha * next_logp


@wrong("sac-target-online-critics")
def chases_itself(actor, qf1, qf2, qf1_target, qf2_target, next_obs, rewards, dones, alpha, gamma):
    a, logp, _ = actor.get_action(next_obs)
    least = torch.min(qf1(next_obs, a), qf2(next_obs, a)) - alpha * logp
    return rewards.view(-1) + gamma * (1 - dones.view(-1)) * least.view(-1)


@wrong("sac-target-gamma-missing")
def undiscounted(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return [
        r + (1 - d) * (min(a, b) - alpha * lp)
        for r, d, a, b, lp in zip(rewards, dones, next_q1, next_q2, next_logp, strict=True)
    ]


@wrong("sac-target-broadcast")
def mixed_shapes(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    soft = (torch.min(next_q1, next_q2) - alpha * next_logp).view(-1)
    return rewards.view(-1, 1) + gamma * (1 - dones.view(-1, 1)) * soft


@wrong("sac-target-mask-missing", "sac-target-entropy-sign")
def two_at_once(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (torch.min(next_q1, next_q2) + alpha * next_logp)


@wrong("sac-target-max-for-min", "sac-target-alpha-missing")
def two_others(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (torch.max(next_q1, next_q2) - next_logp)


@wrong("sac-target-mismatch")
def probability_itself(rewards, dones, next_q1, next_q2, next_logp, alpha, gamma):
    return rewards + gamma * (1 - dones) * (torch.min(next_q1, next_q2) - alpha * next_logp.exp())


@wrong("sac-target-action-of-current-state")
def actor_of_now(policy, target_qf1, target_qf2, obs, next_obs, rewards, terminals, alpha=0.2, discount=0.99):
    action, logp = policy(obs)
    least = torch.min(target_qf1(next_obs, action), target_qf2(next_obs, action))
    return rewards + (1.0 - terminals) * discount * (least - alpha * logp)
