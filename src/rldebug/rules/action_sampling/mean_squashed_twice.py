"""The mean of a squashed policy goes through a tanh of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.squashing import is_squashed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MeanSquashedTwice(Rule):
    """The mean of a squashed policy goes through a tanh of its own.

    ## What it checks
    Executed actions are the tanh of numbers drawn from a Gaussian, and the mean of that Gaussian is itself made by a
    tanh, as the graph of its log-prob shows.

    ## Why it matters
    The mean lies within ±1, and its tanh within ±0.76: without noise the policy cannot reach the last quarter of the
    range, on either side.

    ## Likely causes
    1. The network ends in a tanh, as a deterministic actor does, and the sample is squashed once more. Confirm: print
       the largest mean, and the largest action of the evaluation.

    ## What to try first
    Leave the mean as the last linear layer gives it.

    ## When it is fine
    Where the ends of the range are not wanted.

    ## References
    Haarnoja et al., *Soft Actor-Critic* (2018), appendix C.
    Seen in the wild: ACT-12 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT377"
    name: ClassVar[str] = "mean-squashed-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"
    follows: ClassVar[tuple[str, ...]] = ("ACT605",)

    audits: int = 2  # that show it

    def check(self, evidence: Script) -> Iterator[Finding]:
        scored = [
            (audit, event)
            for audit, event in evidence.events("logp")
            if event.get("dist") in ("Normal", "Independent") and event.get("value_attached") and event.get("made")
        ]
        if not scored:
            raise NotEnough("no log-prob of a Gaussian was seen that a policy learns through")
        shown = [(audit, event) for audit, event in scored if event["made"][0] == "Tanh"]
        if len(shown) < len(scored):
            return
        seen = {audit.number for audit, _ in shown if is_squashed(evidence, audit)}
        if len(seen) >= self.audits:
            yield self.finding(
                "the mean of the policy is squashed before the sample is squashed, too",
                where=shown[0][1].where,
                seen=f"in {len(seen)} audits the mean is made by a tanh, and actions are the tanh of what is drawn",
                expected="a mean without bounds",
                help="take the tanh off the mean",
                confidence=0.92,
            )
