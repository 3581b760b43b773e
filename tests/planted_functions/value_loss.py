"""Losses of a critic, as people write them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def cleanrl_like(newvalue, b_values, b_returns, args):
    newvalue = newvalue.view(-1)
    v_loss_unclipped = (newvalue - b_returns) ** 2
    v_clipped = b_values + torch.clamp(newvalue - b_values, -args.clip_coef, args.clip_coef)
    v_loss_clipped = (v_clipped - b_returns) ** 2
    return 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()


@right()
def sb3_like(values, rollout_data, clip_range_vf):
    values_pred = rollout_data.old_values + torch.clamp(values - rollout_data.old_values, -clip_range_vf, clip_range_vf)
    return F.mse_loss(rollout_data.returns, values_pred)


@right()
def plain(v, ret):
    return ((v - ret) ** 2).mean()


@right()
def in_numpy(values, old_values, returns, eps):
    total = 0.0
    for v, o, r in zip(values, old_values, returns, strict=True):
        kept = o + min(max(v - o, -eps), eps)
        total += 0.5 * max((v - r) ** 2, (kept - r) ** 2)
    return total / len(values)


class Learner:
    @right()
    def ikostrikov_like(self, values, value_preds_batch, return_batch):
        kept = value_preds_batch + (values - value_preds_batch).clamp(-self.clip_param, self.clip_param)
        if self.use_clipped_value_loss:
            return 0.5 * torch.max((values - return_batch).pow(2), (kept - return_batch).pow(2)).mean()
        return 0.5 * (return_batch - values).pow(2).mean()

    @wrong("value-loss-min-for-max")
    def smaller_one(self, batch):
        kept = batch.old_values + (batch.values - batch.old_values).clamp(-self.clip_range, self.clip_range)
        return torch.minimum((batch.values - batch.returns) ** 2, (kept - batch.returns) ** 2).mean()


ikostrikov_like, smaller_one = Learner.ikostrikov_like, Learner.smaller_one


@right()
def with_its_weight(values, returns, vf_coef):
    return vf_coef * F.mse_loss(values, returns)


@right()
def masked(vpreds, returns, values, response_mask, cliprange_value):
    kept = torch.clamp(vpreds, values - cliprange_value, values + cliprange_value)
    losses = torch.max((vpreds - returns) ** 2, (kept - returns) ** 2)
    return 0.5 * (losses * response_mask).sum() / response_mask.sum()


@right()
def one_for_each(value_pred, target_value):
    return F.mse_loss(value_pred, target_value, reduction="none")


# ── wrong ──


@wrong("value-loss-clipped-around-zero")
def around_zero(values, old_values, returns, clip_coef):
    v_clipped = torch.clamp(values, -clip_coef, clip_coef)
    return 0.5 * torch.max((values - returns) ** 2, (v_clipped - returns) ** 2).mean()


@wrong("value-loss-clipped-around-return")
def around_the_return(values, old_values, returns, clip_coef):
    v_clipped = returns + torch.clamp(values - returns, -clip_coef, clip_coef)
    return F.mse_loss(v_clipped, returns)


@wrong("value-loss-not-clipped")
def around_the_return_without_effect(values, old_values, returns, clip_coef):
    v_clipped = returns + torch.clamp(values - returns, -clip_coef, clip_coef)
    return torch.max((values - returns) ** 2, (v_clipped - returns) ** 2).mean()


@wrong("value-loss-clip-scaled")
def like_a_ratio(v_new, v_old, ret, eps):
    kept = torch.max(torch.min(v_new, v_old * (1 + eps)), v_old * (1 - eps))
    return torch.max((v_new - ret) ** 2, (kept - ret) ** 2).mean()


@wrong("value-loss-old-value-not-added")
def difference_only(values, old_values, targets, clip):
    kept = np.clip(values - old_values, -clip, clip)
    return np.maximum((values - targets) ** 2, (kept - targets) ** 2).mean()


@wrong("value-loss-clip-mirrored")
def mirrored(new_values, old_values, returns, epsilon):
    kept = old_values + (old_values - new_values).clamp(-epsilon, epsilon)
    return 0.5 * torch.maximum((kept - returns).square(), (new_values - returns).square()).mean()


@wrong("value-loss-not-clipped")
def forgets_to_clip(values, old_values, returns, clip_range):
    return F.mse_loss(values, returns)


@wrong("value-loss-of-old-values")
def stale(new_values, old_values, returns):
    return ((old_values - returns) ** 2).mean()


@wrong("value-loss-not-squared")
def signed(values, returns):
    return (returns * -1 + values).mean()


@wrong("value-loss-sign-flipped")
def maximised(values, returns):
    return -0.5 * ((values - returns) ** 2).mean()


@wrong("value-loss-rows-broadcast")
def column_and_row(values, returns):
    return ((values.reshape(-1, 1) - returns.reshape(-1)) ** 2).mean()


@wrong("value-loss-detached")
def nothing_moves(values, returns):
    return 0.5 * (torch.tensor(values.tolist()) - returns).pow(2).mean()


@wrong("value-loss-mask-ignored")
def padding_counts(values, returns, mask):
    return 0.5 * ((values - returns) ** 2).mean()


@wrong("value-loss-coefficient-twice")
def doubled(values, returns, value_loss_coef):
    loss = value_loss_coef * (values - returns).pow(2).mean()
    return value_loss_coef * loss


@wrong("value-loss-min-for-max", "value-loss-clip-mirrored")
def smaller_and_mirrored(values, old_values, returns, clip):
    kept = old_values - (values - old_values).clamp(-clip, clip)
    return torch.min((kept - returns).square(), (values - returns).square()).mean()


@wrong("value-loss-rows-broadcast", "value-loss-detached")
def crossed_and_still(values, returns):
    return ((values.detach()[:, None] - returns[None, :]) ** 2).mean()


@wrong("value-loss-mismatch")
def cubed(values, returns):
    return ((values - returns).abs() ** 3).mean()


@right()
def of_a_critic(critic, obs, returns):
    return F.mse_loss(critic(obs).squeeze(-1), returns)


@wrong("value-loss-detached")
def of_a_critic_at_rest(value_net, states, returns):
    with torch.no_grad():
        values = value_net(states).flatten()
    return F.mse_loss(values, returns.flatten())


@wrong("value-loss-rows-broadcast")
def of_a_critic_against_all(critic, states, returns):
    return ((critic(states) - returns.flatten()) ** 2).mean()


@right()
def huber_for_squares(state_values, returns):
    return F.smooth_l1_loss(state_values, returns)


@wrong("value-loss-larger-mean")
def larger_of_two_means(vpred, vpred_old, vtarg, clip_param=0.2):
    kept = vpred_old + torch.clamp(vpred - vpred_old, -clip_param, clip_param)
    return 0.5 * torch.max(F.mse_loss(vpred, vtarg), F.mse_loss(kept, vtarg))


@wrong("value-loss-target-is-advantage")
def towards_advantages(values, returns, advantages):
    return F.mse_loss(values, advantages)


@wrong("value-loss-target-follows-value")
def never_wrong(values, old_values, advantages, clip_coef=0.2):
    returns = advantages + values
    kept = old_values + torch.clamp(values - old_values, -clip_coef, clip_coef)
    return 0.5 * torch.max((values - returns) ** 2, (kept - returns) ** 2).mean()


@wrong("value-loss-clip-scaled")
def ratio_of_values(values, old_values, returns, eps):
    kept = old_values * torch.clamp(values / old_values, 1 - eps, 1 + eps)
    return torch.max((values - returns) ** 2, (kept - returns) ** 2).mean()
