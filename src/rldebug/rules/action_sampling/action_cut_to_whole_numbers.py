"""Continuous actions are executed as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionCutToWholeNumbers(Rule):
    """Continuous actions are executed as whole numbers.

    ## What it checks
    In an environment with continuous actions every executed action is a whole number, while the action that the loss
    holds beside the same observation is not.

    ## Why it matters
    Nearly all actions become 0, or -1, 0 and 1: the agent can do little, and learns as if it had done much.

    ## Likely causes
    1. `int(action)`, `.astype(int)` or `.long()` on the way to `step`. Confirm: print the action that is given to
       `step`.
    2. The action is stored in an array of integers before it is executed. Confirm: print its `dtype`.

    ## What to try first
    Give `env.step` the action as float32.

    ## When it is fine
    Bang-bang control: only the bounds of the space are ever executed; that is not counted.

    ## References
    Seen in the wild: BUF-30 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT302"
    name: ClassVar[str] = "action-cut-to-whole-numbers"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "acted"

    rows: int = 64  # that can be compared

    def check(self, evidence: Script) -> Iterator[Finding]:
        compared = whole = 0
        values: set[float] = set()
        where: Event | None = None
        for batch in trained_actions(evidence):
            streams = np.unique(batch.audit.nodes.stream[batch.places])
            facts = evidence.streams[int(streams[0])]["facts"] if len(streams) == 1 else {}
            if batch.discrete or facts.get("action_space") != "Box":
                continue
            bounds = {*(facts.get("action_low") or ()), *(facts.get("action_high") or ())}
            done = batch.executed
            keep = np.asarray(np.isfinite(done).all(axis=1, keepdims=True))
            broken = np.abs(batch.action - np.rint(batch.action)) > 0.05
            cut = (done == np.rint(done)) & broken & ~np.isin(done, list(bounds))
            bound = np.isin(done, list(bounds))
            compared += int((keep & broken & ~bound).sum())
            whole += int((keep & cut).sum())
            values |= set(np.unique(done[keep[:, 0]]).tolist()[:8])
            where = where or batch.term
        if compared < self.rows or where is None:
            raise NotEnough(f"{compared} elements of continuous actions could be compared")
        if whole == compared:
            yield self.finding(
                "continuous actions are executed as whole numbers",
                where=where.where,
                seen=f"{', '.join(f'{each:g}' for each in sorted(values)[:5])} in {whole} of {compared} elements "
                "that are no whole "
                "numbers in the loss",
                expected="the action itself",
                help="give env.step the action as a float",
                confidence=0.95,
            )
