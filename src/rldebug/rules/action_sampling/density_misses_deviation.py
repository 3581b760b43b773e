"""The log-prob of a Gaussian misses the log of its deviation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DensityMissesDeviation(Rule):
    """The log-prob of a Gaussian misses the log of its deviation.

    ## What it checks
    Log-probs in policy losses, with the action, the mean and the deviation that they were computed from. What is left
    beside −½ ((a − μ) / σ)² must fall by log σ, row by row and from loss to loss, as σ is learned. It does not, or by
    another factor, down to rounding.

    ## Why it matters
    Without its normaliser the density grows with σ for every action: the policy is widened whatever it earns, or
    narrowed, where the factor is too large.

    ## Likely causes
    1. `-0.5 * z**2` without `- log_std`. Confirm: compare with `Normal(mu, std).log_prob(a)` for one row.
    2. A variance is taken for a deviation, or the other way round, in one of the two places. Confirm: the same.

    ## What to try first
    Use `torch.distributions.Normal(mean, std).log_prob(action).sum(-1)`.

    ## When it is fine
    A σ that is not learned may be left out.

    ## References
    The PyTorch documentation of `torch.distributions.Normal`.
    """

    code: ClassVar[str] = "ACT355"
    name: ClassVar[str] = "density-misses-deviation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    losses: int = 6  # with log-probs, actions, means and deviations
    spread: float = 2e-3  # of log σ, over rows and losses
    off: float = 0.2  # of the factor of log σ from 1

    def check(self, evidence: Script) -> Iterator[Finding]:
        logs: list[np.ndarray] = []
        rests: list[np.ndarray] = []
        first: Event | None = None
        audits: set[int] = set()
        for audit, term in evidence.terms("policy"):
            found = _left(term)
            if found is not None and len(logs) < 64:
                logs.append(found[0])
                rests.append(found[1])
                audits.add(audit.number)
                first = first or term
        if len(logs) < self.losses or len(audits) < 2 or first is None:
            raise NotEnough(f"{len(logs)} losses with Gaussian log-probs that can be computed, needs {self.losses}")
        log, rest = np.concatenate(logs), np.concatenate(rests)
        if float(np.std(log)) < self.spread:
            raise NotEnough("the deviation hardly changes: its log is a constant")
        log, rest = log - log.mean(), rest - rest.mean()
        factor = -float(log @ rest) / float(log @ log)
        if float(np.std(rest + factor * log)) > 0.02 * float(np.std(log)) or abs(factor - 1.0) < self.off:
            return
        told = "lacks the log of its deviation" if abs(factor) < 0.02 else f"has {factor:.2g} times the log of its σ"
        yield self.finding(
            f"the log-prob of the Gaussian {told}",
            where=first.where,
            seen=f"−½ z² − {factor:.2g} · log σ in {len(log)} rows of {len(logs)} losses, while σ is learned",
            expected="−½ z² − log σ",
            help="compute the log-prob with torch.distributions.Normal",
            confidence=0.95,
        )


def _left(term: Event) -> tuple[np.ndarray, np.ndarray] | None:
    """Σ log σ, and what is left of the log-prob without its square; a row each."""
    arrays = term.arrays
    logp = arrays.get("logp", arrays.get("logp_up_to_constant"))
    if term.get("family") != "normal" or logp is None or not {"action", "mean", "std"} <= arrays.keys():
        return None
    action, mean, std = (np.asarray(arrays[name], dtype=np.float64) for name in ("action", "mean", "std"))
    count = len(np.ravel(logp))
    if not action.shape == mean.shape == std.shape or not count or action.size % count or not (std > 0).all():
        return None
    z = ((action - mean) / std).reshape(count, -1)
    left = np.ravel(logp).astype(np.float64) + 0.5 * (z**2).sum(axis=1)
    log = np.log(std).reshape(count, -1).sum(axis=1)
    near = np.abs(z).max(axis=1) < 6  # further out rounding takes over
    ok = np.isfinite(left).all() and near.sum() >= 4
    return (log[near], left[near]) if ok else None
