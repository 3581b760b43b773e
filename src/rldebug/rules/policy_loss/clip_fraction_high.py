"""Most rows are clipped, and so teach nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClipFractionHigh(Rule):
    """More than half of the rows are outside the clip range.

    ## What it checks
    The share of rows whose ratio is outside 1 ± clip in later minibatches on the same rollout, over the whole run and
    at its end. Only where the first minibatch shows that old and new policy start out equal, or in the log of another
    library.

    ## Why it matters
    A clipped row has no gradient. Half of the batch is paid for and thrown away, and what is left pulls one way.

    ## Likely causes
    1. The learning rate, or the number of epochs, is too high. Confirm: `policy/clip_fraction` rises from minibatch to
       minibatch and `policy/kl` is above 0.05.
    2. The clip range is too narrow: 0.02 in place of 0.2, or an annealed one. Confirm: print it.
    3. The log-prob is a sum over many action dimensions and moves more than a single one. Confirm: `policy/kl` per
       dimension is small; lower the learning rate all the same.

    ## What to try first
    Print the clip range; if it is about 0.2, divide the learning rate by three.

    ## When it is fine
    An algorithm without a clip, which repeats updates on the same data on purpose.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017).
    """

    code: ClassVar[str] = "POL006"
    name: ClassVar[str] = "clip-fraction-high"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/clip_fraction", "policy/first_log_ratio", "policy/later_log_ratio")
    in_log: ClassVar[tuple[str, ...]] = ("policy/clip_fraction",)
    follows: ClassVar[tuple[str, ...]] = (
        "ACT003",
        "NET006",
        "OPT004",
        "OPT008",
        "POL002",
        "POL005",
        "POL007",
        "POL008",
        "POL009",
    )
    aftermath: ClassVar[bool] = True

    share: float = 0.5  # of the rows
    readings: int = 20  # of later minibatches

    def check(self, evidence: Run) -> Iterator[Finding]:
        clipped = evidence["policy/clip_fraction"].finite
        if "log" not in evidence.meta:  # what a log has was computed at the end of the epochs
            if not evidence["policy/first_log_ratio"].finite.median() <= 0.05:
                return  # not the policy that acted: POL005, or data that is older by design
            clipped = clipped.keep(np.isin(clipped.update, evidence["policy/later_log_ratio"].update))
        if len(clipped) < self.readings:
            raise NotEnough(f"{len(clipped)} readings of later minibatches, needs {self.readings}")
        if min(clipped.median(), clipped.tail(0.5).median(), clipped.tail(0.2).median()) <= self.share:
            return
        at = int(np.flatnonzero(clipped.value > self.share)[0])
        yield self.finding(
            "most rows are outside the clip range",
            where=replace(evidence.call("update"), update=int(clipped.update[at]), env_step=int(clipped.env_step[at])),
            seen=f"{clipped.median():.0%} of the rows (median of {len(clipped)} later minibatches), "
            f"{clipped.tail(0.2).median():.0%} at the end",
            expected="up to 30 %",
            help="print the clip range; if it is about 0.2, divide the learning rate by three",
            confidence=0.8,
        )
