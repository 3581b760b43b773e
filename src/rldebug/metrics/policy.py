"""How random the policy is, how far it moved, and whether the data it learns from is its own."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal, kl_divergence

from rldebug.metric import metric
from rldebug.rollout import Update, log_probs_of


@metric(
    "policy/entropy_rel",
    unit="share of the maximum",
    reads=Update,
    needs=("dist",),
    healthy="starts near 1, falls, then levels out above 0",
)
def relative_entropy(update: Update) -> Tensor | None:
    """Entropy of the policy relative to the most it could be.

    Discrete: mean of H(π(·|s)) / log n(s) over rows, n(s) the number of allowed actions; rows with one allowed action
    say nothing and are left out. Continuous: exp((H − H_uniform) / d), the share of each action dimension's range that
    the policy spreads over (at most 1), where the action bounds are known.
    """
    assert update.dist is not None
    if update.log_probs is not None:
        allowed = (update.mask if update.mask is not None else ~(update.log_probs < _FORBIDDEN)).sum(-1)
        free = allowed > 1
        share = torch.where(free, update.row_entropy / allowed.log(), 0.0)
        return share.sum() / free.sum()
    entropy_and_size = _gaussian(update.dist)
    if entropy_and_size is None or update.action_low is None or update.action_high is None:
        return None
    entropy, size = entropy_and_size
    uniform = (update.action_high - update.action_low).double().log().sum().to(entropy.dtype)
    return ((entropy.mean() - uniform) / size).exp().clamp(max=1.0)


@metric("policy/entropy", unit="nats", reads=Update, healthy="falls as the policy learns, then levels out")
def entropy(update: Update) -> Tensor | None:
    """Mean entropy of the policy on the batch: from the distribution, or as handed over.

    H = −Σ π log π (discrete), Σ ½ log(2πe σ²) (Gaussian); summed over the actions of a row where there are several.
    """
    if update.dist is not None:
        if update.log_probs is not None:
            return _joint(update.dist, update.row_entropy).mean()
        known = _gaussian(update.dist)
        if known is not None:
            return known[0].mean()
    return None if update.entropy is None else update.entropy.mean()


@metric("policy/entropy_given", unit="nats", reads=Update, needs=("entropy",), healthy="as policy/entropy")
def entropy_given(update: Update) -> Tensor:
    """The entropy the loop itself computed and handed over, averaged over rows."""
    assert update.entropy is not None
    return update.entropy.float().mean()


@metric("policy/entropy_max", unit="nats", reads=Update, needs=("dist",), healthy="constant")
def entropy_max(update: Update) -> Tensor | float | None:
    """The most the entropy of a discrete policy could be: log of the number of actions, times the actions per row."""
    assert update.dist is not None
    if update.log_probs is None:
        return None
    several = update.log_probs.shape[-1 - _actions(update.dist) : -1].numel()
    return several * math.log(max(update.log_probs.shape[-1], 1))


@metric(
    "policy/obs_dependence",
    unit="probability",
    reads=Update,
    needs=("dist",),
    healthy="0 at a zero-initialised start, then rises",
)
def observation_dependence(update: Update) -> Tensor | None:
    """How much the policy differs between observations: standard deviation over rows of each action's probability,
    or of each Gaussian mean, averaged over actions. 0 means that the observation does not matter."""
    assert update.dist is not None
    if update.log_probs is not None:
        width = update.probs.shape[-1 - _actions(update.dist) :].numel()
        rows = update.probs.reshape(-1, width)
    else:
        base = update.dist.base_dist if isinstance(update.dist, Independent) else update.dist
        if not isinstance(base, Normal) or base.loc.ndim < 2:
            return None
        rows = base.loc.reshape(-1, base.loc.shape[-1])
    return rows.std(0).mean() if rows.shape[0] > 1 else None


@metric("policy/kl", unit="nats", reads=Update, needs=("logp_old", "logp_new"), healthy="small and positive; steady")
def kl_k3(update: Update) -> Tensor:
    """How far the learned policy is from the one that acted: mean of (r − 1) − log r, r = π_new/π_old of the action
    taken (Schulman's k3: unbiased, never negative)."""
    return (update.log_ratio.expm1() - update.log_ratio).mean()


@metric("policy/kl_k1", unit="nats", reads=Update, needs=("logp_old", "logp_new"), healthy="near policy/kl")
def kl_k1(update: Update) -> Tensor:
    """The plain estimator, mean of log π_old − log π_new: unbiased on fresh samples, noisy, may be negative."""
    return -update.log_ratio.mean()


@metric("policy/kl_exact", unit="nats", reads=Update, needs=("dist", "dist_old"), healthy="small and never negative")
def kl_exact(update: Update) -> Tensor | None:
    """KL(π_old ‖ π_new) by its definition, where both distributions are handed over; actions that neither policy
    allows count as 0."""
    assert update.dist is not None and update.dist_old is not None
    new, old = update.log_probs, log_probs_of(update.dist_old)
    if new is not None and old is not None:
        probs = old.exp()
        per_action = torch.where(probs > 0, probs * (old - new), torch.zeros_like(probs)).sum(-1)
        return _joint(update.dist, per_action).mean()
    try:
        divergence = kl_divergence(update.dist_old, update.dist)
    except NotImplementedError:
        return None
    rows = divergence.shape[0] if divergence.ndim else 1
    return divergence.reshape(rows, -1).sum(-1).mean()


@metric("policy/kl_given", unit="nats", reads=Update, needs=("kl",), healthy="small and never negative")
def kl_given(update: Update) -> Tensor:
    """The KL divergence the loop itself computed and handed over, averaged over rows."""
    assert update.kl is not None
    return update.kl.float().mean()


@metric("policy/kl_over_limit", unit="share of the limit", reads=Update, needs=("kl", "kl_limit"), healthy="at most 1")
def kl_over_limit(update: Update) -> Tensor:
    """The KL divergence handed over, averaged over rows, relative to the limit that the step was to stay within."""
    assert update.kl is not None and update.kl_limit is not None
    return update.kl.float().mean() / update.kl_limit


@metric(
    "policy/ratio_mean",
    "policy/ratio_std",
    "policy/ratio_min",
    "policy/ratio_max",
    "policy/log_ratio_absmax",
    unit="ratio",
    reads=Update,
    needs=("logp_old", "logp_new"),
    healthy="around 1; exactly 1 in the first minibatch of the first epoch",
)
def ratio(update: Update) -> tuple[Tensor, ...]:
    """Importance ratio r = exp(log π_new − log π_old) of the actions taken: mean, spread, extremes, max |log r|."""
    std, mean = torch.std_mean(update.ratio, correction=0)
    low, high = update.ratio.aminmax()
    return mean, std, low, high, torch.linalg.vector_norm(update.log_ratio, float("inf"))


@metric(
    "policy/first_log_ratio",
    unit="nats",
    reads=Update,
    needs=("logp_old", "logp_new", "since_rollout"),
    healthy="0, up to rounding",
)
def first_log_ratio(update: Update) -> Tensor | None:
    """Max |log π_new − log π_old| in the first minibatch after a rollout, before any step: both are the same policy."""
    return update.log_ratio.abs().max() if update.since_rollout == 0 else None


@metric(
    "policy/later_log_ratio",
    unit="nats",
    reads=Update,
    needs=("logp_old", "logp_new", "since_rollout"),
    healthy="above 0, below about 1",
)
def later_log_ratio(update: Update) -> Tensor | None:
    """Max |log π_new − log π_old| in later minibatches on the same rollout: the policy has moved, so it is not 0."""
    return update.log_ratio.abs().max() if update.since_rollout else None


@metric(
    "policy/clip_fraction",
    unit="share of rows",
    reads=Update,
    needs=("logp_old", "logp_new"),
    healthy="0 in the first minibatch, up to about 0.3 in the last",
)
def clip_fraction(update: Update) -> Tensor:
    """Share of rows whose ratio is outside 1 ± clip (0.2 where none is handed over)."""
    return ((update.ratio - 1.0).abs() > (update.clip or 0.2)).float().mean()


@metric(
    "policy/logp_from_rollout",
    unit="share of rows",
    reads=Update,
    needs=("logp_old", "rollout_logp"),
    healthy="1",
    detail=True,
)
def logp_from_rollout(update: Update) -> Tensor:
    """Share of the old log-probs that are, bit for bit, among those acting handed over for this rollout."""
    assert update.logp_old is not None and update.rollout_logp is not None
    old = update.logp_old.float()
    acted = update.rollout_logp.float().sort().values  # not `isin`: that waits for the device
    place = torch.searchsorted(acted, old).clamp(max=acted.numel() - 1)
    return (acted[place] == old).float().mean()


@metric(
    "policy/surprise_gap",
    "policy/surprise_error",
    unit="nats",
    reads=Update,
    needs=("dist", "logp_old", "since_rollout"),
    healthy="0 within a few standard errors",
)
def surprise_gap(update: Update) -> tuple[Tensor, Tensor] | None:
    """Mean of −log π of the actions taken, minus the entropy of π on the same rows, and its standard error.

    For actions drawn from π the two are equal in the mean. Below 0: actions are greedier than π. Above 0: they come
    from somewhere else. Discrete policies, first minibatch only, where π is the policy that acted.
    """
    assert update.dist is not None and update.logp_old is not None
    if update.log_probs is None or update.since_rollout != 0 or update.logp_old.numel() < 2:
        return None
    if update.row_entropy.numel() != update.logp_old.numel():
        return None  # several actions per row
    gap = -update.logp_old - update.row_entropy.reshape(-1)
    return gap.mean(), gap.std() / math.sqrt(gap.numel())


@metric(
    "policy/surprise_spread",
    unit="nats",
    reads=Update,
    needs=("dist", "logp_old", "since_rollout"),
    healthy="near policy/surprise_error",
)
def surprise_spread(update: Update) -> Tensor | None:
    """The standard error that `policy/surprise_gap` should have if actions are drawn from π:
    √(mean over rows of Σ π log² π − H²) / √N.

    Unlike the standard error of the sample it counts the rare actions that a sample of near-certain ones lacks.
    """
    assert update.logp_old is not None
    if update.log_probs is None or update.since_rollout != 0 or update.logp_old.numel() < 2:
        return None
    if update.row_entropy.numel() != update.logp_old.numel():
        return None  # several actions per row
    second = (update.probs * update.log_probs.clamp(min=-1e6).square()).sum(-1)
    return (second - update.row_entropy.square()).clamp(min=0).mean().sqrt() / math.sqrt(update.logp_old.numel())


@metric(
    "policy/advantage_pull",
    unit="nats · return",
    reads=Update,
    needs=("logp_old", "logp_new", "advantage", "since_rollout"),
    healthy="positive",
)
def advantage_pull(update: Update) -> Tensor | None:
    """Covariance of log r with the advantage in later minibatches on the same rollout: mean of log r · (A − mean A).
    Positive where the policy moved towards the actions that turned out well, negative where it moved away."""
    assert update.advantage is not None
    if not update.since_rollout:
        return None
    return (update.log_ratio * (update.advantage - update.advantage.mean())).mean()


@metric("exploration/epsilon", unit="probability", reads=Update, needs=("epsilon",), healthy="starts near 1, decays")
def epsilon(update: Update) -> float:
    """The exploration parameter the loop handed over."""
    assert update.epsilon is not None
    return update.epsilon


_FORBIDDEN = -900.0  # a log-prob that no learning leads to, only a mask; float32 already makes −104 a probability of 0


def _actions(dist: Distribution) -> int:
    """Dimensions of a row that hold several actions drawn together."""
    return int(dist.reinterpreted_batch_ndims) if isinstance(dist, Independent) else 0


def _joint(dist: Distribution, per_action: Tensor) -> Tensor:
    """Per row: the sum over the actions of a row, where there are several."""
    return per_action.flatten(-_actions(dist)).sum(-1) if _actions(dist) else per_action


def _gaussian(dist: Distribution) -> tuple[Tensor, int] | None:
    """Entropy per row, summed over action dimensions, and their number."""
    base = dist.base_dist if isinstance(dist, Independent) else dist
    if not isinstance(base, Normal):
        return None
    scale = base.scale.detach()
    if isinstance(dist, Independent):
        size = scale.shape[len(dist.batch_shape) :].numel()
    else:
        size = scale.shape[-1] if scale.ndim > 1 else 1
    per_dimension = 0.5 + 0.5 * math.log(2 * math.pi) + scale.log()
    return per_dimension.reshape(-1, size).sum(-1), size
