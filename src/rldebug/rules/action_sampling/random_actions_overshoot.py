"""Actions that no network chose reach beyond the space, and are learned from as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import acting
from rldebug.forensics.roles import roles_of
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RandomActionsOvershoot(Rule):
    """Random actions reach beyond the space, and are learned from.

    ## What it checks
    Continuous actions that were given to the environment, of steps at which a network was asked and of steps at which
    none was. The network's own stay within the declared space; of the others many lie beyond it. And the critic learns
    from what was given, by a factor and a shift, not from what the environment made of it.

    ## Why it matters
    The environment cuts such actions off, so that half of them are the same. The critic learns what actions bring
    that were never taken, and that the actor cannot take.

    ## Likely causes
    1. Random actions of the first steps are drawn in the units of the environment, `action_space.sample()`, and
       stretched to them once more like those of the actor. Confirm: print the first actions that `step()` is given.
    2. They are drawn from a normal distribution, and not cut off before they are stored. Confirm: the same.

    ## What to try first
    Divide a sample of the space by the bound before it is stored, or draw from -1 to 1.

    ## When it is fine
    Where the environment has no bounds in truth, and its declared space is too small.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*; its code draws the first
    actions from the space, in the units of the space.
    """

    code: ClassVar[str] = "ACT260"
    name: ClassVar[str] = "random-actions-overshoot"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "acted"

    random: int = 64  # steps without a network
    chosen: int = 24  # steps with one
    beyond: float = 0.2  # of the first lie outside of the space
    slack: float = 0.05  # of half the range, by which they must
    own: float = 0.02  # of the second may
    rows: int = 32  # of a loss, with actions beyond the space
    exact: float = 1e-4  # of the range of the stored ones

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        bounds = _bounds(evidence, stream)
        if bounds is None:
            raise NotEnough("no bounded space of continuous actions")
        low, high = bounds
        asked: dict[int, set[int]] = {}
        for call in acting(evidence):
            asked.setdefault(call.audit.number, set()).update(call.rows.tolist())
        without: list[Array] = []
        with_one: list[Array] = []
        for audit in evidence.audits:
            mine = _own_steps(audit, stream)
            network = np.isin(audit.nodes.id[mine], list(asked.get(audit.number, ())))
            for into, kept in ((without, ~network), (with_one, network)):
                into.append(_outside(audit.nodes.action[mine][kept], low, high))
        random, chosen = np.concatenate(without or [np.empty(0)]), np.concatenate(with_one or [np.empty(0)])
        if len(random) < self.random or len(chosen) < self.chosen:
            raise NotEnough(f"{len(random)} steps at which no network was asked, and {len(chosen)} at which one was")
        if (random > self.slack).mean() < self.beyond or (chosen > self.slack).mean() > self.own:
            return
        term, rows, slope = self._learned(evidence, low, high)
        if term is None:
            return
        yield self.finding(
            "random actions reach beyond the action space, and are learned from as they are",
            where=term.where,
            seen=f"{(random > self.slack).mean():.0%} of {len(random)} actions that no network chose lie outside of "
            f"{float(low[0]):.3g} to {float(high[0]):.3g}, by up to {float(random.max()):.3g} times half that range; "
            f"{rows} rows of a loss hold them, times {slope:.3g}",
            expected=f"actions within the space, as the network's own are ({(chosen > self.slack).mean():.0%} outside)",
            help="bring random actions into the units of the actor's before they are stored and stretched",
            confidence=0.85,
        )

    def _learned(self, script: Script, low: Array, high: Array) -> tuple[Any, int, float]:
        """A loss that learns from actions beyond the space, by one factor and shift for all."""
        several = [each for each in trained_actions(script) if not each.discrete]
        if not several:
            return None, 0, 0.0
        stored, done = (np.concatenate([getattr(each, name) for each in several]) for name in ("action", "executed"))
        kept = np.isfinite(done).all(axis=1) & (_outside(done, low, high) > self.slack)
        if kept.sum() < self.rows or done.shape[1] != stored.shape[1]:
            return None, 0, 0.0
        slope, shift = np.polyfit(done[kept, 0], stored[kept, 0], 1)
        off = np.abs(stored[kept, 0] - slope * done[kept, 0] - shift)
        if abs(slope) < 1e-3 or np.quantile(off, 0.95) > self.exact * np.ptp(stored[kept, 0]):
            return None, 0, 0.0
        return several[0].term, int(kept.sum()), float(slope)


def _bounds(script: Script, stream: int | None) -> tuple[Array, Array] | None:
    facts: Any = next((each.get("facts") or {} for each in script.streams if int(each["index"]) == stream), {})
    low, high = (np.ravel(np.array(facts.get(name) or [], dtype=np.float64)) for name in ("action_low", "action_high"))
    good = len(low) and len(low) == len(high) and np.isfinite(low).all() and np.isfinite(high).all()
    return (low, high) if good and (high > low).all() else None


def _own_steps(audit: Audit, stream: int | None) -> NDArray[np.bool_]:
    """Steps that were taken while it was looked: of others nobody knows whether a network was asked."""
    nodes = audit.nodes
    return np.asarray(nodes.acted & ~nodes.phantom & (nodes.stream == stream) & (nodes.phase >= audit.phase))


def _outside(action: Array, low: Array, high: Array) -> Array:
    """By how much an action lies beyond the space, in halves of its range."""
    if not len(action) or action.shape[1] != len(low):
        return np.zeros(len(action))
    half = 0.5 * (high - low)
    return np.asarray(np.maximum((action - high) / half, (low - action) / half).max(axis=1))
