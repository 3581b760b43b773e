"""The clipped surrogate of PPO, as people write it."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong


@right()
def cleanrl_like(newlogprob, b_logprobs, b_advantages, clip_coef):
    logratio = newlogprob - b_logprobs
    ratio = logratio.exp()
    pg_loss1 = -b_advantages * ratio
    pg_loss2 = -b_advantages * torch.clamp(ratio, 1 - clip_coef, 1 + clip_coef)
    return torch.max(pg_loss1, pg_loss2).mean()


@right()
def compute_loss_pi(data, logp, clip_ratio):
    adv, logp_old = data["adv"], data["logp"]
    ratio = torch.exp(logp - logp_old)
    clip_adv = torch.clamp(ratio, 1 - clip_ratio, 1 + clip_ratio) * adv
    loss_pi = -(torch.min(ratio * adv, clip_adv)).mean()
    approx_kl = (logp_old - logp).mean().item()
    clipped = ratio.gt(1 + clip_ratio) | ratio.lt(1 - clip_ratio)
    clipfrac = torch.as_tensor(clipped, dtype=torch.float32).mean().item()
    return loss_pi, {"kl": approx_kl, "cf": clipfrac}


@right()
def sb3_like(self, rollout_data, log_prob):
    advantages = rollout_data.advantages
    if len(advantages) > 1:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = torch.exp(log_prob - rollout_data.old_log_prob)
    policy_loss_1 = advantages * ratio
    policy_loss_2 = advantages * torch.clamp(ratio, 1 - self.clip_range, 1 + self.clip_range)
    return -torch.min(policy_loss_1, policy_loss_2).mean()


@right()
def numpy_loop(new_log_probs, old_log_probs, advs, eps=0.2):
    total = 0.0
    for lp, old, a in zip(new_log_probs, old_log_probs, advs, strict=False):
        r = np.exp(lp - old)
        total += min(r * a, np.clip(r, 1 - eps, 1 + eps) * a)
    return -total / len(advs)


@right()
def by_the_sign_of_the_advantage(ratio, advantage, epsilon):
    # Spinning Up's g(ε, A) form.
    g = torch.where(advantage >= 0, (1 + epsilon) * advantage, (1 - epsilon) * advantage)
    return -torch.min(ratio * advantage, g).mean()


@right()
def clip_objective(log_probs, old_log_probs, advantages, epsilon):
    r = (log_probs - old_log_probs.detach()).exp()
    return torch.min(r * advantages, r.clamp(1 - epsilon, 1 + epsilon) * advantages).mean()


@right()
def in_log_space(log_weight, advantage):
    lo, hi = np.log1p(-0.2), np.log1p(0.2)
    gain1 = log_weight.exp() * advantage
    gain2 = log_weight.clamp(lo, hi).exp() * advantage
    return -torch.stack([gain1, gain2], -1).min(dim=-1).values


@right()
def verl_like(old_log_prob, log_prob, advantages, response_mask, cliprange, clip_ratio_c=3.0):
    negative_approx_kl = torch.clamp(log_prob - old_log_prob, min=-20.0, max=20.0)
    ratio = torch.exp(negative_approx_kl)
    pg_losses1 = -advantages * ratio
    pg_losses2 = -advantages * torch.clamp(ratio, 1 - cliprange, 1 + cliprange)
    clip1 = torch.maximum(pg_losses1, pg_losses2)
    clip2 = torch.min(-advantages * clip_ratio_c, clip1)
    losses = torch.where(advantages < 0, clip2, clip1)
    return (losses * response_mask).sum() / response_mask.sum(), (negative_approx_kl * response_mask).mean()


@right()
def whole_ppo_loss(logp, old_logp, adv, values, returns, entropy, clip_eps=0.2, vf_coef=0.5, ent_coef=0.01):
    ratio = torch.exp(logp - old_logp)
    pg = -torch.min(ratio * adv, ratio.clamp(1 - clip_eps, 1 + clip_eps) * adv).mean()
    return pg + vf_coef * F.mse_loss(values, returns) - ent_coef * entropy.mean()


@wrong("ppo-loss-sign-flipped")
def my_ppo_loss(logp, logp_old, adv, clip):
    ratio = torch.exp(logp - logp_old)
    surr1 = ratio * adv
    surr2 = torch.clamp(ratio, 1 - clip, 1 + clip) * adv
    loss = torch.min(surr1, surr2).mean()
    return loss


@wrong("ppo-loss-min-max-swapped")
def max_of_both(batch, clip_range):
    r = (batch["log_probs"] - batch["old_log_probs"]).exp()
    return -torch.max(r * batch["advantages"], r.clamp(1 - clip_range, 1 + clip_range) * batch["advantages"]).mean()


@wrong("ppo-loss-min-max-swapped")
def min_of_the_losses(log_prob, log_prob_old, advantage, eps_clip):
    ratios = torch.exp(log_prob - log_prob_old)
    loss1 = -ratios * advantage
    loss2 = -torch.clamp(ratios, 1 - eps_clip, 1 + eps_clip) * advantage
    return torch.min(loss1, loss2).mean()


@wrong("ppo-loss-ratio-inverted")
def old_over_new(new_logprobs, old_logprobs, advantages, clip_param=0.2):
    ratio = np.exp(old_logprobs - new_logprobs)
    surr = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip_param, 1 + clip_param) * advantages)
    return -np.mean(surr)


@wrong("ppo-loss-ratio-without-exp")
def no_exp(self, log_probs, old_log_probs, advantages):
    ratio = log_probs - old_log_probs
    left = ratio * advantages
    right_ = torch.clamp(ratio, 1.0 - self.eps, 1.0 + self.eps) * advantages
    return -torch.mean(torch.minimum(left, right_))


@wrong("ppo-loss-logs-divided")
def divide_logs(logp, old_logp, A, epsilon):
    ratio = logp / old_logp
    return -torch.min(ratio * A, ratio.clip(1 - epsilon, 1 + epsilon) * A).mean()


@wrong("ppo-loss-clip-missing")
def plain_surrogate_loss(log_probs, old_log_probs, advantages, clip_eps):
    ratio = torch.exp(log_probs - old_log_probs.detach())
    return -(ratio * advantages).mean()


@wrong("ppo-loss-clip-one-sided")
def upper_only(batch, clip_ratio=0.2):
    ratio = torch.exp(batch["logp"] - batch["old_logp"])
    capped = torch.clamp(ratio, max=1 + clip_ratio)
    return -torch.min(ratio * batch["adv"], capped * batch["adv"]).mean()


@wrong("ppo-loss-clip-one-sided")
def lower_only(logps, old_logps, advs, eps):
    out = []
    for new, old, a in zip(logps, old_logps, advs, strict=False):
        r = np.exp(new - old)
        out.append(-min(r * a, max(r, 1 - eps) * a))
    return np.array(out)


@wrong("ppo-loss-clip-bounds-wrong")
def around_zero(ratio, advantages, clip_coef):
    return -torch.min(ratio * advantages, torch.clamp(ratio, -clip_coef, clip_coef) * advantages).mean()


@wrong("ppo-loss-minimum-missing")
def clipped_only_loss(log_prob, old_log_prob, adv, clip_range):
    ratio = (log_prob - old_log_prob).exp()
    return -(ratio.clamp(1 - clip_range, 1 + clip_range) * adv).sum()


@wrong("ppo-loss-product-clipped")
def clamp_everything(logp, logp_old, advantages, clip_epsilon):
    obj = (logp - logp_old).exp() * advantages
    return -torch.min(obj, obj.clamp(1 - clip_epsilon, 1 + clip_epsilon)).mean()


@wrong("ppo-loss-without-gradient")
def wrong_one_detached(logp, old_logp, adv, clip_eps):
    ratio = torch.exp(logp.detach() - old_logp)
    s1, s2 = ratio * adv, torch.clamp(ratio, 1 - clip_eps, 1 + clip_eps) * adv
    return -torch.min(s1, s2).mean()


@wrong("ppo-loss-without-gradient")
def through_numpy(new_log_probs, old_log_probs, advantages, epsilon):
    ratio = torch.tensor(np.exp((new_log_probs - old_log_probs).detach().numpy()))
    return -torch.min(ratio * advantages, torch.clip(ratio, 1 - epsilon, 1 + epsilon) * advantages).mean()


@wrong("ppo-loss-normalised-late")
def between_the_products(log_weight, advantage, clip_epsilon):
    gain1 = log_weight.exp() * advantage
    advantage = (advantage - advantage.mean()) / advantage.std().clamp_min(1e-6)
    gain2 = log_weight.clamp(np.log1p(-clip_epsilon), np.log1p(clip_epsilon)).exp() * advantage
    return -torch.min(gain1, gain2).mean()


@wrong("ppo-loss-mask-ignored")
def mask_unused(log_probs, old_log_probs, advantages, mask, clip_range):
    ratio = torch.exp(log_probs - old_log_probs)
    loss = torch.max(-advantages * ratio, -advantages * torch.clamp(ratio, 1 - clip_range, 1 + clip_range))
    return loss.mean()


@wrong("ppo-loss-mask-ignored")
def divided_by_all(neglogpac, OLDNEGLOGPAC, adv, valid, cliprange):
    ratio = torch.exp(OLDNEGLOGPAC - neglogpac)
    loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - cliprange, 1 + cliprange))
    return (loss * valid).mean()


@wrong("ppo-loss-dual-clip-everywhere")
def dual_for_all(logp, logp_old, adv, eps_clip, dual_clip):
    ratio = (logp - logp_old).exp()
    surr1, surr2 = ratio * adv, ratio.clamp(1 - eps_clip, 1 + eps_clip) * adv
    return -torch.max(torch.min(surr1, surr2), dual_clip * adv).mean()


@wrong("ppo-loss-advantage-twice")
def weighted_again(logp, old_logp, adv, clip):
    ratio = torch.exp(logp - old_logp)
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
    return -(surrogate * adv.abs()).mean()


@wrong("ppo-loss-sign-flipped", "ppo-loss-ratio-inverted")
def two_signs_loss(log_probs, old_log_probs, advantages, clip_range):
    ratio = torch.exp(old_log_probs - log_probs)
    return torch.min(ratio * advantages, ratio.clamp(1 - clip_range, 1 + clip_range) * advantages).mean()


@wrong("ppo-loss-min-max-swapped", "ppo-loss-clip-bounds-wrong")
def swapped_and_around_zero(new_logp, old_logp, advs, eps):
    r = np.exp(new_logp - old_logp)
    return -np.maximum(r * advs, np.clip(r, -eps, eps) * advs).mean()


@wrong("ppo-loss-without-gradient", "ppo-loss-clip-one-sided")
def detached_one_sided(logp, old_logp, advantages, clip_ratio):
    with torch.no_grad():
        ratio = torch.exp(logp - old_logp)
    return -torch.min(ratio * advantages, ratio.clamp(max=1 + clip_ratio) * advantages).mean()


@wrong("ppo-loss-mismatch")
def squared_ratio(log_probs, old_log_probs, advantages, clip_range):
    ratio = torch.exp(log_probs - old_log_probs) ** 2
    return -torch.min(ratio * advantages, ratio.clamp(1 - clip_range, 1 + clip_range) * advantages).mean()
