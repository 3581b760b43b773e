"""Episodes terminate, but no terminal transition is ever replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoTerminalInReplay(Rule):
    """Episodes terminate, but no replayed transition is terminal.

    ## What it checks
    How many terminal rows the sampled batches should have held, given how often the environment terminated up to then;
    and that they held none.

    ## Why it matters
    A value that is never told where episodes end has nothing to start from: it bootstraps through the terminal state
    and drifts.

    ## Likely causes
    1. The flag is stored before it is known, or overwritten (`terminated = False` at the top of the loop). Confirm:
       count the flags in the buffer.
    2. The last transition of an episode is not stored, because the loop leaves before the insert. Confirm: the buffer
       grows by one less than the episode is long.
    3. `truncated` is stored in its place. Confirm: count both columns.

    ## What to try first
    Print the sum of the terminal flags in the whole buffer.

    ## When it is fine
    Treating every task as one that goes on for ever, on purpose.

    ## References
    Nikanjam et al., *Faults in deep reinforcement learning programs* (missing terminal state).
    """

    code: ClassVar[str] = "BUF007"
    name: ClassVar[str] = "no-terminal-in-replay"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "rows"
    needs: ClassVar[tuple[str, ...]] = ("replay/terminated", "episode/terminated", "episode/steps", "batch/rows")

    expected: float = 30.0  # terminal rows that uniform sampling would have shown; the chance of none is e⁻³⁰

    def check(self, evidence: Run) -> Iterator[Finding]:
        sampled = evidence["replay/terminated"].finite
        if sampled.max() > 0:
            return
        ends, steps = evidence["episode/terminated"].finite, evidence["episode/steps"].finite
        rows = evidence["batch/rows"].median()
        wanted = 0.0
        for update in sampled.update:
            # Of what was collected before the last reading: the newest steps may come after this batch.
            taken = float(steps.value[steps.update < update].sum())
            if taken > 0:
                wanted += rows * float(ends.value[ends.update < update].sum()) / taken
        if not wanted >= self.expected:
            raise NotEnough(f"{wanted:.0f} terminal rows expected so far, needs {self.expected:.0f}")
        total = int(np.sum(ends.value))
        yield self.finding(
            "no terminal transition is ever replayed",
            where=replace(evidence.call("replay"), update=int(sampled.update[-1]), env_step=int(sampled.env_step[-1])),
            seen=f"0 terminal rows in {len(sampled)} recorded batches of {rows:.0f}; the environment terminated "
            f"{total} episodes in {int(np.sum(steps.value))} steps",
            expected=f"about {wanted:.0f} terminal rows in those batches",
            help="store terminated with the transition it belongs to, the last one of the episode",
            confidence=0.85,
        )
