"""The batch an update learns from: its size, its age, whether it is a new one."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.metrics.value import moments
from rldebug.rollout import Transitions, Update


@lru_cache(maxsize=16)
def hash_weights(size: int, device: torch.device) -> Tensor:
    """Weights for a sum that tells any two orders and values apart, for all practical purposes."""
    return torch.cos(torch.arange(size, device=device, dtype=torch.float32))


@metric("batch/rows", unit="samples", reads=Update, healthy="steady")
def rows(update: Update) -> int | None:
    """Samples in the batch."""
    return update.rows


@metric(
    "batch/staleness_mean",
    "batch/staleness_max",
    unit="learner steps",
    reads=Update,
    healthy="steady; low for on-policy algorithms",
)
def staleness(update: Update) -> tuple[Tensor | float, Tensor | float] | None:
    """Learner steps between the policy that collected a sample and the one that learns from it.

    From `collected_at=` (what `dbg.age` was when the row was stored), else from the last `dbg.rollout(...)`.
    """
    if update.collected_at is not None:
        age = update.age - update.collected_at.float()
        return age.mean(), age.max()
    if update.since_rollout is not None:
        return float(update.since_rollout), float(update.since_rollout)
    return None


@metric("batch/fingerprint", unit="hash", reads=Update, healthy="changes from rollout to rollout")
def fingerprint(update: Update) -> Tensor | None:
    """A weighted sum of the data rows (old log-probs, targets, advantages), equal for equal batches."""
    data = [each for each in (update.logp_old, update.target, update.advantage) if each is not None]
    if not data:
        return None
    weights = hash_weights(data[0].numel(), data[0].device)
    return torch.stack([torch.dot(each.float(), weights) for each in data]).sum()


@metric(
    "replay/reward_mean", "replay/reward_std", "replay/reward_min", "replay/reward_max",
    unit="reward", reads=Transitions, needs=("reward",), healthy="as the environment's",
)  # fmt: skip
def replay_reward(batch: Transitions) -> tuple[Tensor, ...]:
    """Distribution of the rewards sampled from replay."""
    assert batch.reward is not None
    return moments(batch.reward)


@metric("replay/obs_mean", unit="observation", reads=Transitions, needs=("obs",), healthy="finite, steady")
def replay_obs_mean(batch: Transitions) -> Tensor | None:
    """Mean of all entries of the sampled observations; NaN where any of them is. Integer observations are left out."""
    assert batch.obs is not None
    return batch.obs.float().mean() if batch.obs.is_floating_point() else None


@metric("replay/stuck", unit="share of rows", reads=Transitions, needs=("obs", "next_obs"), healthy="0 or nearly")
def stuck(batch: Transitions) -> Tensor:
    """Share of the sampled rows whose next observation equals the observation."""
    assert batch.obs is not None and batch.next_obs is not None
    rows = batch.obs.shape[0]
    return (batch.obs.reshape(rows, -1) == batch.next_obs.reshape(rows, -1)).all(-1).float().mean()


@metric("replay/terminated", unit="share of rows", reads=Transitions, needs=("terminated",), healthy="above 0")
def replay_terminated(batch: Transitions) -> Tensor:
    """Share of the sampled rows that are terminal."""
    assert batch.terminated is not None
    return batch.terminated.float().mean()


@metric(
    "replay/action_mode_share",
    unit="share of rows",
    reads=Transitions,
    needs=("action",),
    healthy="well below 1 while exploring",
)
def replay_action_mode_share(batch: Transitions) -> Tensor | None:
    """Share of the sampled rows with the commonest action (discrete actions, up to 64 of them)."""
    assert batch.action is not None
    if batch.action.is_floating_point() or batch.action.numel() != batch.action.shape[0]:
        return None
    flat = batch.action.reshape(-1).long()
    return (flat[:, None] == torch.arange(64, device=flat.device)).float().mean(0).max()


@metric(
    "replay/duplicates",
    unit="share of rows",
    reads=Transitions,
    needs=("obs", "next_obs"),
    healthy="near 0 once the buffer is large, unless there are few states",
    detail=True,
)
def duplicates(batch: Transitions) -> Tensor:
    """Share of the sampled rows that equal the row before them, once sorted: one transition stored many times."""
    assert batch.obs is not None and batch.next_obs is not None
    rows = batch.obs.shape[0]
    pair = torch.cat([batch.obs.reshape(rows, -1), batch.next_obs.reshape(rows, -1)], 1).float()[:512]
    keys = (pair @ hash_weights(pair.shape[1], pair.device)).sort().values
    return (keys[1:] == keys[:-1]).float().mean()


@metric("replay/fingerprint", unit="hash", reads=Transitions, needs=("obs",), healthy="never the same twice")
def replay_fingerprint(batch: Transitions) -> Tensor:
    """A weighted sum of the sampled observations, equal for equal batches."""
    assert batch.obs is not None
    flat = batch.obs.reshape(-1)
    flat = flat[:: max(flat.numel() // 4096, 1)].float()
    return torch.dot(flat, hash_weights(flat.numel(), flat.device))


@metric(
    "replay/shared_entries",
    unit="share of rows",
    reads=Transitions,
    needs=("obs", "next_obs"),
    healthy="0 for continuous states, above 0 for finite ones",
    detail=True,
)
def shared_entries(batch: Transitions) -> Tensor:
    """1 − (most distinct values in any one entry) / (distinct rows), over obs and next_obs together. 0 where every row
    that differs at all differs in some fixed entry, as continuous states do; above 0 for grids and other finite states,
    where rows that differ still share each of their entries with others."""
    assert batch.obs is not None and batch.next_obs is not None
    rows = batch.obs.shape[0]
    sides = [each.reshape(rows, -1)[:512, :64].float() for each in (batch.obs, batch.next_obs)]
    pair = torch.cat(sides, 1)
    keys = (pair @ hash_weights(pair.shape[1], pair.device)).sort().values
    distinct_rows = (keys[1:] != keys[:-1]).sum() + 1
    entries = pair.sort(0).values
    distinct_entries = (entries[1:] != entries[:-1]).sum(0).max() + 1
    return (1.0 - distinct_entries / distinct_rows).clamp(min=0.0)
