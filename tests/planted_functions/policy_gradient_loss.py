"""The loss of REINFORCE, vanilla policy gradient and A2C, as people write it."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def spinning_up_like(logp, weights):
    return -(logp * weights).mean()


@right()
def a2c_like(action_log_probs, values, returns):
    advantages = returns - values
    value_loss = advantages.pow(2).mean()
    action_loss = -(advantages.detach() * action_log_probs).mean()
    return action_loss, value_loss


@right()
def pytorch_example_like(saved_log_probs, returns):
    policy_loss = []
    for log_prob, R in zip(saved_log_probs, returns, strict=False):
        policy_loss.append(-log_prob * R)
    return torch.cat(policy_loss).sum()


@right()
def stacked(log_probs, rewards_to_go):
    returns = (rewards_to_go - rewards_to_go.mean()) / (rewards_to_go.std() + 1e-9)
    return (-torch.stack(list(log_probs)) * returns.detach()).sum()


@right()
def method(self, batch):
    return torch.mean(-batch["log_prob"] * batch["advantage"])


@right()
def in_numpy(logps, advs):
    total = 0.0
    for i in range(len(logps)):
        total += logps[i] * advs[i]
    return -total / len(logps)


@right()
def pg_objective(log_pi, advantages):
    return (log_pi * advantages.detach()).mean()


@right()
def with_baseline(log_probs, rewards, baseline):
    return -torch.dot(log_probs, (rewards - baseline).detach())


@right()
def token_loss(logprobs, advantages, loss_mask):
    per_token = -logprobs * advantages * loss_mask
    return per_token.sum() / loss_mask.sum()


@wrong("policy-gradient-loss-sign-flipped")
def reinforce_loss(log_probs, returns):
    return (log_probs * returns).mean()


@wrong("policy-gradient-loss-without-gradient")
def detached_wrong_side(log_prob, advantage):
    return -(log_prob.detach() * advantage).mean()


@wrong("policy-gradient-loss-without-gradient")
def loss_from_numbers(log_probs, rets):
    losses = [-lp.item() * g for lp, g in zip(log_probs, rets, strict=False)]
    return torch.stack(losses).mean()


@wrong("policy-gradient-loss-advantage-not-detached")
def td_actor_loss(log_probs, values, td_targets):
    td_error = td_targets - values
    return -(log_probs * td_error).mean()


@wrong("policy-gradient-loss-rows-mixed")
def mean_times_returns(self, log_probs, returns):
    return -(torch.stack(list(log_probs)).mean() * returns).sum()


@wrong("policy-gradient-loss-rows-mixed")
def outer(logp, adv):
    return -(logp[:, None] * adv[None, :]).mean()


@wrong("policy-gradient-loss-rows-mixed")
def summed_first(log_probs, rewards):
    return -log_probs.sum() * rewards.sum()


@wrong("policy-gradient-loss-probability-for-log")
def weigh_probabilities(log_prob, adv):
    prob = torch.exp(log_prob)
    return -(prob * adv).sum()


@right()
def cross_entropy(logits, actions, returns):
    nll = torch.nn.functional.cross_entropy(logits, actions, reduction="none")
    return (nll * returns).mean()


@wrong("policy-gradient-loss-logits-not-normalised")
def raw_logits(logits, actions, advantages):
    return -(logits.gather(1, actions.unsqueeze(1)).squeeze(1) * advantages).mean()


@wrong("policy-gradient-loss-probability-for-log")
def picked_probability(probs, act, weights):
    return -(probs[torch.arange(len(act)), act] * weights).mean()


@wrong("policy-gradient-loss-baseline-missing")
def baseline_unused(logp, G, values):
    return -(logp * G).mean()


@wrong("policy-gradient-loss-advantage-squared")
def scaled_by_size(batch):
    adv = batch.advantages
    return -(batch.log_probs * adv * adv.abs()).mean()


@wrong("policy-gradient-loss-order-reversed")
def backwards(log_probs, discounted_rewards):
    out = 0
    for lp, g in zip(log_probs, reversed(list(discounted_rewards)), strict=False):
        out = out - lp * g
    return out / len(log_probs)


@wrong("policy-gradient-loss-pairs-shifted")
def rolled(log_pi, advantages):
    return -(log_pi * torch.roll(advantages, -1)).mean()


@wrong("policy-gradient-loss-mask-ignored")
def padded(logp, adv, mask):
    return -np.mean(np.asarray(logp) * np.asarray(adv))


@wrong("policy-gradient-loss-negative-dropped")
def relu_loss(logp, adv):
    return -(logp * torch.relu(adv)).mean()


@wrong("policy-gradient-loss-sign-flipped", "policy-gradient-loss-advantage-not-detached")
def both_in_actor_loss(log_probs, returns, values):
    return ((values - returns) * -1 * log_probs).mean()


@wrong("policy-gradient-loss-without-gradient", "policy-gradient-loss-pairs-shifted")
def detached_and_rolled(logp, adv):
    return -(logp.detach() * adv.roll(1)).mean()


@wrong("policy-gradient-loss-mismatch")
def square_root(logp, adv):
    return -(logp * adv.sign() * adv.abs().sqrt()).mean()
