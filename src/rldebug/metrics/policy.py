"""How random the policy is, how far it moved, and whether the data it learns from is its own."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Independent, Normal, OneHotCategorical, kl_divergence

from rldebug.metric import metric
from rldebug.rollout import Update


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
    log_probs = _log_probs(update.dist)
    if log_probs is not None:
        probs, entropy = _discrete(log_probs)
        allowed = (update.mask if update.mask is not None else probs > 0).sum(-1).float()
        free = (allowed > 1).float()
        share = entropy / allowed.clamp(min=2).log()
        return (share * free).sum() / free.sum()
    entropy_and_size = _gaussian(update.dist)
    if entropy_and_size is None or update.action_low is None or update.action_high is None:
        return None
    entropy, size = entropy_and_size
    uniform = (update.action_high - update.action_low).double().log().sum().to(entropy.dtype)
    return ((entropy.mean() - uniform) / size).exp().clamp(max=1.0)


@metric("policy/entropy", unit="nats", reads=Update, healthy="falls as the policy learns, then levels out")
def entropy(update: Update) -> Tensor | None:
    """Mean entropy of the policy on the batch: from the distribution, or as handed over.

    H = −Σ π log π (discrete), Σ ½ log(2πe σ²) (Gaussian).
    """
    if update.dist is not None:
        log_probs = _log_probs(update.dist)
        if log_probs is not None:
            return _discrete(log_probs)[1].mean()
        known = _gaussian(update.dist)
        if known is not None:
            return known[0].mean()
    return None if update.entropy is None else update.entropy.mean()


@metric("policy/entropy_max", unit="nats", reads=Update, needs=("dist",), healthy="constant")
def entropy_max(update: Update) -> Tensor | float | None:
    """The most the entropy of a discrete policy could be: log of the number of actions."""
    assert update.dist is not None
    log_probs = _log_probs(update.dist)
    return None if log_probs is None else math.log(max(log_probs.shape[-1], 1))


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
    log_probs = _log_probs(update.dist)
    if log_probs is not None:
        rows = log_probs.reshape(-1, log_probs.shape[-1]).exp()
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
    log_ratio = _log_ratio(update)
    return (log_ratio.expm1() - log_ratio).mean()


@metric("policy/kl_k1", unit="nats", reads=Update, needs=("logp_old", "logp_new"), healthy="near policy/kl")
def kl_k1(update: Update) -> Tensor:
    """The plain estimator, mean of log π_old − log π_new: unbiased on fresh samples, noisy, may be negative."""
    return -_log_ratio(update).mean()


@metric("policy/kl_exact", unit="nats", reads=Update, needs=("dist", "dist_old"), healthy="small and never negative")
def kl_exact(update: Update) -> Tensor | None:
    """KL(π_old ‖ π_new) by its definition, where both distributions are handed over; actions that neither policy
    allows count as 0."""
    assert update.dist is not None and update.dist_old is not None
    new, old = _log_probs(update.dist), _log_probs(update.dist_old)
    if new is not None and old is not None:
        probs = old.exp()
        return torch.where(probs > 0, probs * (old - new), torch.zeros_like(probs)).sum(-1).mean()
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
    log_ratio = _log_ratio(update)
    ratios = log_ratio.exp()
    std, mean = torch.std_mean(ratios, correction=0)
    low, high = log_ratio.aminmax()
    return mean, std, low.exp(), high.exp(), torch.maximum(high, -low)


@metric(
    "policy/first_log_ratio",
    unit="nats",
    reads=Update,
    needs=("logp_old", "logp_new", "since_rollout"),
    healthy="0, up to rounding",
)
def first_log_ratio(update: Update) -> Tensor | None:
    """Max |log π_new − log π_old| in the first minibatch after a rollout, before any step: both are the same policy."""
    return _log_ratio(update).abs().max() if update.since_rollout == 0 else None


@metric("policy/later_log_ratio", unit="nats", reads=Update, needs=("logp_old", "logp_new", "since_rollout"))
def later_log_ratio(update: Update) -> Tensor | None:
    """Max |log π_new − log π_old| in later minibatches on the same rollout: the policy has moved, so it is not 0."""
    return _log_ratio(update).abs().max() if update.since_rollout else None


@metric(
    "policy/clip_fraction",
    unit="share of rows",
    reads=Update,
    needs=("logp_old", "logp_new"),
    healthy="0 in the first minibatch, up to about 0.3 in the last",
)
def clip_fraction(update: Update) -> Tensor:
    """Share of rows whose ratio is outside 1 ± clip (0.2 where none is handed over)."""
    return ((_log_ratio(update).exp() - 1.0).abs() > (update.clip or 0.2)).float().mean()


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
    return torch.isin(update.logp_old.float(), update.rollout_logp.float()).float().mean()


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
    log_probs = _log_probs(update.dist)
    if log_probs is None or update.since_rollout != 0 or update.logp_old.numel() < 2:
        return None
    gap = -update.logp_old - _discrete(log_probs)[1].reshape(-1)
    return gap.mean(), gap.std() / math.sqrt(gap.numel())


@metric("exploration/epsilon", unit="probability", reads=Update, needs=("epsilon",), healthy="starts near 1, decays")
def epsilon(update: Update) -> float:
    """The exploration parameter the loop handed over."""
    assert update.epsilon is not None
    return update.epsilon


def _log_ratio(update: Update) -> Tensor:
    assert update.logp_old is not None and update.logp_new is not None
    return update.logp_new - update.logp_old


def _log_probs(dist: Distribution) -> Tensor | None:
    base = dist.base_dist if isinstance(dist, Independent) else dist
    if isinstance(base, (Categorical, OneHotCategorical)):
        logits: Tensor = base.logits
        return logits.detach()
    return None


def _discrete(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    """Probabilities and entropy per row. A forbidden action has probability 0 and log-probability −inf: it adds 0."""
    probs = log_probs.exp()
    terms = torch.where(probs > 0, probs * log_probs, torch.zeros_like(probs))
    return probs, -terms.sum(-1)


def _gaussian(dist: Distribution) -> tuple[Tensor, int] | None:
    """Entropy per row, summed over action dimensions, and their number."""
    base = dist.base_dist if isinstance(dist, Independent) else dist
    if not isinstance(base, Normal):
        return None
    scale = base.scale.detach()
    size = scale.shape[-1] if scale.ndim > 1 or isinstance(dist, Independent) else 1
    per_dimension = 0.5 + 0.5 * math.log(2 * math.pi) + scale.log()
    return per_dimension.reshape(-1, size).sum(-1), size
