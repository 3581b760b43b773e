"""The total loss of an actor-critic, as people write it."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong


@right()
def cleanrl_like(pg_loss, v_loss, entropy, ent_coef, vf_coef):
    entropy_loss = entropy.mean()
    return pg_loss - ent_coef * entropy_loss + v_loss * vf_coef


@right()
def sb3_like(self, policy_loss, value_loss, entropy_loss):
    loss = policy_loss + self.ent_coef * entropy_loss + self.vf_coef * value_loss
    return loss


@right()
def entropy_loss_without_its_minus(pg_loss, v_loss, entropy_loss, args):
    return pg_loss - args.ent_coef * entropy_loss + v_loss * args.vf_coef


@right()
def with_numbers(policy_loss, value_loss, entropy):
    return policy_loss + 0.5 * value_loss - 0.01 * entropy


@right()
def with_logs(actor_loss, critic_loss, dist_entropy, entropy_coef):
    loss = actor_loss + critic_loss - entropy_coef * dist_entropy
    return loss, {"actor": actor_loss.item(), "critic": critic_loss.item(), "entropy": dist_entropy.item()}


@right()
def entropy_term_alone(entropy, beta):
    return -beta * entropy.mean()


@right()
def bonus(entropies, coef):
    return coef * np.mean(entropies)


@right()
def a2c_from_rows(log_probs, advantages, values, returns, entropy, vf_coef=0.5, ent_coef=0.01):
    policy_loss = -(log_probs * advantages.detach()).mean()
    value_loss = F.mse_loss(values, returns)
    return policy_loss + vf_coef * value_loss - ent_coef * entropy.mean()


@right()
def ppo_from_rows(logp, old_logp, adv, values, returns, entropy, clip_eps, c1, c2):
    ratio = (logp - old_logp).exp()
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip_eps, 1 + clip_eps) * adv).mean()
    critic = 0.5 * (returns - values).pow(2).mean()
    return -(surrogate - c1 * critic + c2 * entropy.mean())


@wrong("entropy-bonus-sign-flipped")
def plus_entropy(pg_loss, v_loss, entropy, vf_coef, ent_coef):
    return pg_loss + vf_coef * v_loss + ent_coef * entropy.mean()


@wrong("entropy-bonus-sign-flipped")
def plus_in_numpy_loss(policy_loss, entropies, beta):
    return policy_loss + beta * np.mean(entropies)


@wrong("entropy-bonus-weight-missing")
def coef_forgotten(actor_loss, critic_loss, entropy, value_coef, entropy_coef):
    return actor_loss + value_coef * critic_loss - entropy.mean()


@wrong("entropy-bonus-value-weight-missing")
def total_loss(loss_pi, loss_v, ent, vf_coef, ent_coef):
    return loss_pi + loss_v - ent_coef * ent.mean()


@wrong("entropy-bonus-weights-swapped")
def swapped(policy_loss, value_loss, entropy, c1, c2):
    return policy_loss - c1 * entropy.mean() + c2 * value_loss


@wrong("entropy-bonus-left-out")
def no_entropy(batch, vf_coef, ent_coef, entropy):
    return batch["policy_loss"] + vf_coef * batch["value_loss"]


@wrong("entropy-bonus-value-loss-left-out")
def no_value_loss(policy_loss, value_loss, entropy, value_coef, entropy_coef):
    loss = policy_loss - entropy_coef * entropy.mean()
    return loss


@wrong("entropy-bonus-value-loss-subtracted")
def critic_minus(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    loss = policy_loss - vf_coef * value_loss - ent_coef * entropy.mean()
    return loss


@wrong("entropy-bonus-policy-loss-subtracted")
def policy_minus(actor_loss, critic_loss, entropy, critic_coef, entropy_weight):
    loss = critic_coef * critic_loss - actor_loss - entropy_weight * entropy.mean()
    return loss


@wrong("entropy-bonus-summed-over-batch")
def sum_of_entropies(pg_loss, vf_loss, entropies, vf_coeff, entropy_coeff):
    return pg_loss + vf_coeff * vf_loss - entropy_coeff * sum(entropies)


@wrong("entropy-bonus-of-last-row")
def last_entropy(policy_loss, value_loss, entropies, vf_coef, ent_coef):
    for t in range(len(entropies)):
        entropy = entropies[t]
    return policy_loss + vf_coef * value_loss - ent_coef * entropy


@wrong("entropy-bonus-without-gradient")
def entropy_as_number(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    return policy_loss + vf_coef * value_loss - ent_coef * entropy.mean().item()


@wrong("entropy-bonus-value-loss-without-gradient")
def critic_detached(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    return policy_loss + vf_coef * value_loss.detach() - ent_coef * entropy.mean()


@wrong("entropy-bonus-in-value-bracket")
def bracket(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    return policy_loss + vf_coef * (value_loss - ent_coef * entropy.mean())


@wrong("entropy-bonus-sign-flipped", "entropy-bonus-summed-over-batch")
def plus_sum(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    loss = policy_loss + vf_coef * value_loss + ent_coef * entropy.sum()
    return loss


@wrong("entropy-bonus-sign-flipped", "entropy-bonus-value-weight-missing")
def plus_and_unweighted(actor_loss, critic_loss, entropy, vf_coef, ent_coef):
    return actor_loss + critic_loss + ent_coef * entropy.mean()


@wrong("entropy-bonus-mismatch")
def squared_entropy(policy_loss, value_loss, entropy, vf_coef, ent_coef):
    return policy_loss + vf_coef * value_loss - ent_coef * entropy.mean() ** 2
