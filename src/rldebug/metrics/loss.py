"""The losses themselves, and whether they are the formulas they should be: exact, with no threshold to choose."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Update


@metric(
    "loss/value_mismatch",
    "loss/value_outer_mismatch",
    unit="relative error",
    reads=Update,
    needs=("value", "target"),
    healthy="the first is 0, up to rounding, where the loss is a plain square or Huber loss",
    code=True,
)
def value_formula(update: Update) -> tuple[Tensor, Tensor] | None:
    """How far the value loss handed over is from every usual formula on these rows, and from the same formulas taken
    over all *pairs* of rows: what `(N, 1) − (N,)` computes when it broadcasts to `(N, N)`.

    Forms: c · mean (v − t)² with c ∈ {1, ½}, Huber (δ = 1), and the sums of those.
    """
    loss, value, target = update.loss.get("value"), update.value, update.target
    assert value is not None and target is not None
    if loss is None or value.numel() < 2 or value.numel() > _PAIRS:
        return None
    value, target = value.float(), target.float()
    rows = _nearest(loss, _regression(value - target))
    pairs = _nearest(loss, _regression((value[None, :] - target[:, None]).reshape(-1)))
    return rows, pairs


@metric(
    "loss/policy_mismatch",
    "loss/policy_flipped_mismatch",
    "loss/policy_outer_mismatch",
    unit="relative error",
    reads=Update,
    needs=("logp_new", "advantage"),
    healthy="the first is 0, up to rounding, for REINFORCE, A2C and PPO",
    code=True,
)
def policy_formula(update: Update) -> tuple[Tensor, Tensor, Tensor] | None:
    """How far the policy loss handed over is from the usual formulas on these rows, from the same with the sign
    flipped, and from the same over all pairs of rows.

    Forms: −mean log π · A, −mean r · A, PPO's clipped surrogate; A as given or normalised over the batch; mean or sum.
    """
    loss, logp, advantage = update.loss.get("policy"), update.logp_new, update.advantage
    assert logp is not None and advantage is not None
    if loss is None or logp.numel() < 2:
        return None
    logp, advantage = logp.float(), advantage.float()
    std, mean = torch.std_mean(advantage)
    forms: list[Tensor] = []
    outer: list[Tensor] = []
    for weight in (advantage, (advantage - mean) / (std + 1e-8)):
        forms.append((logp * weight).mean())
        outer.append(logp.mean() * weight.mean())
        if update.logp_old is not None:
            ratio = (logp - update.logp_old.float()).exp()
            clip = update.clip or 0.2
            forms.append((ratio * weight).mean())
            forms.append(torch.minimum(ratio * weight, ratio.clamp(1 - clip, 1 + clip) * weight).mean())
            outer.append(ratio.mean() * weight.mean())
            # All pairs of the clipped surrogate, without forming them: the sign of A alone says which branch counts.
            gain, cost = ratio.clamp(max=1 + clip).mean(), ratio.clamp(min=1 - clip).mean()
            outer.append(gain * weight.clamp(min=0).mean() + cost * weight.clamp(max=0).mean())
    forms += [each * logp.numel() for each in forms]
    outer += [each * logp.numel() for each in outer] + [each * logp.numel() ** 2 for each in outer]
    wrong = torch.stack(forms)
    # A formula whose value is about 0 (normalised weights at ratio 1) fits anything: measure against the rows, too.
    scale = advantage.abs().mean().maximum(loss.float().abs())
    return (
        _nearest(loss, -wrong, scale),
        _nearest(loss, wrong, scale),
        _nearest(loss, -torch.stack(outer), scale),
    )


_PAIRS = 2048  # rows above which all pairs are too many to look at


def _regression(error: Tensor) -> Tensor:
    square, size = error.square(), error.abs()
    huber = torch.where(size < 1.0, 0.5 * square, size - 0.5)
    means = torch.stack([square.mean(), 0.5 * square.mean(), huber.mean()])
    return torch.cat([means, means * error.numel()])


def _nearest(loss: Tensor, forms: Tensor, scale: Tensor | None = None) -> Tensor:
    loss = loss.float()
    size = loss.abs() if scale is None else scale
    return ((forms - loss).abs() / (size + 1e-12)).min()
