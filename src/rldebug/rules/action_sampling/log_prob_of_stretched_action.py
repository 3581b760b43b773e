"""The log-prob is that of a stretched action, and critics see it unstretched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.squashing import soft_log_probs
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbOfStretchedAction(Rule):
    """The log-prob is that of a stretched action; critics see another.

    ## What it checks
    Critics are asked about actions in [-1, 1], the tanh of what was drawn. The log-prob in their targets, with a
    temperature that is learned, is less by just the logarithms of the half ranges of the environment: it is that of
    the action stretched to its bounds. Exact.

    ## Why it matters
    The entropy is shifted by a constant, and the target entropy is not: with a range of ±2 and two elements the
    temperature is tuned to a policy that is 1.4 nats more certain than was wanted.

    ## Likely causes
    1. `log(scale * (1 - tanh(u)**2))` was kept where actions are handled in [-1, 1]. Confirm: print what the critic
       is given.

    ## What to try first
    `log(1 - tanh(u)**2)`, without the scale; or give stretched actions to the critic, too.

    ## When it is fine
    Where the target entropy was chosen for stretched actions.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    Seen in the wild: ACT-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT378"
    name: ClassVar[str] = "log-prob-of-stretched-action"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    losses: int = 2  # that were taken apart
    shift: float = 0.2  # that matters
    near: float = 0.01  # relative, between what is computed and what the mistake gives

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in soft_log_probs(evidence) if each.how == "corrected" and each.share is not None]
        if len(found) < self.losses:
            raise NotEnough(f"{len(found)} soft targets with a learned temperature could be taken apart")
        for stream in evidence.streams:
            facts = stream.get("facts") or {}
            low, high = (np.ravel(np.array(facts.get(name) or [], float)) for name in ("action_low", "action_high"))
            if len(low) != found[0].size or len(high) != len(low) or not np.isfinite([*low, *high]).all():
                continue
            if not (high > low).all():
                continue
            stretch = -float(np.log((high - low) / 2.0).sum())
            if abs(stretch) < self.shift:
                continue
            if all(each.unit and abs(each.shift - stretch) < self.near * abs(stretch) for each in found):
                yield self.finding(
                    "the log-prob is that of the stretched action, and critics are asked about another",
                    where=found[0].where,
                    seen=f"{stretch:+.2f} in the log-prob of actions in [-1, 1], in {len(found)} losses",
                    expected="log-prob and critic of the same action",
                    help="leave the scale out of the correction, or give the stretched action to the critic",
                    confidence=0.85,
                )
                return
