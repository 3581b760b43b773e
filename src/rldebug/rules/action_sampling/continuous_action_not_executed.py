"""The continuous action in the loss is not the one that was executed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ContinuousActionNotExecuted(Rule):
    """The continuous action in the loss is not the one executed.

    ## What it checks
    The action that a policy's log-prob or a critic is given beside an observation is compared with the action executed
    from that observation. Any increasing or decreasing map between the two is fine: scaling, squashing, clipping. Here
    there is none, and yet they are related: the action was changed by something else in between.

    ## Why it matters
    Rewards are credited to actions that were not taken.

    ## Likely causes
    1. Noise is added to the action that is executed, and the action without it is stored; or the other way round.
       Confirm: compare what is stored with what is given to `step`.
    2. The action is sampled again when it is stored. Confirm: the same.
    3. Elements of the action are swapped on the way. Confirm: the same.

    ## What to try first
    Store the action that is given to `env.step`, or the sample it was made from by a fixed formula.

    ## When it is fine
    Log-probs of actions drawn from the current policy, as in SAC's loss of the actor, are not counted.

    ## References
    Seen in the wild: ACT-01, ACT-04, BUF-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT301"
    name: ClassVar[str] = "continuous-action-not-executed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "acted"
    follows: ClassVar[tuple[str, ...]] = ("BUF300", "BUF301", "BUF306")

    rows: int = 96  # that can be compared
    in_order: float = 0.97  # share of neighbouring pairs that keep their order: a monotone map
    related: float = 0.3  # correlation of ranks that shows that it is this action, or was

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: dict[str, _Rows] = {}  # by the bounds of the environment: each may have units of its own
        bounds = [_bounds(each) for each in evidence.streams]
        width = None
        for batch in trained_actions(evidence):
            if batch.discrete or (width is not None and batch.action.shape[1] != width):
                continue
            executed = batch.executed
            keep = np.isfinite(executed).all(axis=1) & np.isfinite(batch.action).all(axis=1)
            if not keep.any():
                continue
            width = batch.action.shape[1]
            streams = batch.audit.nodes.stream[batch.places]
            for stream in np.unique(streams[keep]).tolist():
                mine = keep & (streams == stream)
                rows = found.setdefault(bounds[stream] if stream < len(bounds) else "", _Rows(batch.term))
                rows.stored.append(batch.action[mine])
                rows.done.append(executed[mine])
                rows.audits.add(batch.audit.number)
        enough = [each for each in found.values() if len(each) >= self.rows and len(each.audits) >= 2]
        if not enough:
            raise NotEnough(f"{sum(map(len, found.values()))} rows of losses could be traced to a continuous action")
        for each in enough:
            yield from self._judged(each)

    def _judged(self, rows: _Rows) -> Iterator[Finding]:
        count = len(rows)
        mine, theirs = np.concatenate(rows.stored), np.concatenate(rows.done)
        judged = [_order(mine[:, each], theirs[:, each]) for each in range(mine.shape[1])]
        told = [each for each in judged if each is not None]
        if not told or any(order >= self.in_order for order, _ in told):
            return  # one element that fits is the action as it was executed; the others may be wrapped around
        if max(abs(related) for _, related in told) < self.related:
            return  # it may be something else than an action
        _, related = min(told)
        same = (np.abs(mine - theirs) <= 1e-4 * (1 + np.abs(theirs))).all(axis=1)
        yield self.finding(
            "the continuous action in the loss is not the one that was executed",
            where=rows.term.where,
            seen=f"equal in {int(same.sum())} of {count} rows; correlation of ranks {related:.2f}, where any "
            "scaling or clipping "
            "leaves 1",
            expected="the executed action, or the sample that it was made from",
            help="store the action that is given to env.step, after noise was added to it",
            confidence=0.93,
        )


@dataclass(eq=False)
class _Rows:
    """Of one environment: actions as a loss holds them, and as they were executed."""

    term: Event
    stored: list[NDArray[np.float64]] = field(default_factory=list)
    done: list[NDArray[np.float64]] = field(default_factory=list)
    audits: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return sum(map(len, self.stored))


def _bounds(stream: Mapping[str, Any]) -> str:
    facts = stream.get("facts") or {}
    return json.dumps([facts.get("action_low"), facts.get("action_high")], default=str)


def _order(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float] | None:
    """Share of neighbours in the one whose order is the same in the other; and the correlation of their ranks."""
    if len(np.unique(mine)) < 16 or len(np.unique(theirs)) < 8:
        return None
    order = np.argsort(mine, kind="stable")
    sorted_mine, sorted_theirs = mine[order], theirs[order]
    apart = np.diff(sorted_mine) > 1e-5 * (np.ptp(mine) + 1e-12)
    steps = np.diff(sorted_theirs)[apart]
    slack = 1e-4 * (np.ptp(theirs) + 1e-12)
    if not len(steps):
        return None
    up, down = float((steps >= -slack).mean()), float((steps <= slack).mean())
    first, second = (np.argsort(np.argsort(each, kind="stable")).astype(np.float64) for each in (mine, theirs))
    return max(up, down), float(np.corrcoef(first, second)[0, 1])
