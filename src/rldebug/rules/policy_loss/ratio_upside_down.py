"""The likelihood ratio is old over new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.edits import replaced
from rldebug.syntax.flow import meant
from rldebug.syntax.places import calls
from rldebug.syntax.ratios import clamped, exponent, new_and_old


@dataclass(frozen=True, kw_only=True)
class RatioUpsideDown(Rule):
    """The likelihood ratio is old over new.

    ## What it checks
    `exp(old - new)` is clipped around one as the ratio of a policy loss, where `new` comes from the network that learns
    and `old` from stored data. Read from the source.

    ## Why it matters
    The ratio falls where the policy makes an action more likely. The gradient points the wrong way: good actions become
    rarer with every epoch.

    ## Likely causes
    1. The two log-probs were swapped. Confirm: raise the log-prob of an action, the ratio must rise.

    ## What to try first
    `ratio = torch.exp(new_log_prob - old_log_prob)`.

    ## When it is fine
    In an estimate of a divergence; that one is not clipped around one.

    ## References
    Schulman et al., *Proximal policy optimization algorithms*.
    """

    code: ClassVar[str] = "POL621"
    name: ClassVar[str] = "ratio-upside-down"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL302", "POL007", "POL013", "POL340")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told = set()
        for call in calls(evidence):
            given = clamped(evidence, call)
            if given is None or given[1] is None or given[2] is None:
                continue
            inner = exponent(evidence, given[0])
            pair = None if inner is None else new_and_old(evidence, inner)
            if inner is None or pair is None or pair[0] > 0:
                continue
            difference = meant(evidence, inner)
            if difference in told:
                continue
            told.add(difference)
            new, old = evidence.quoted(pair[1]), evidence.quoted(pair[2])
            yield self.finding(
                f"the ratio is old over new: it falls where {new} rises",
                where=evidence.at(difference),
                seen=evidence.quoted(difference),
                expected=f"{new} - {old}: what is learned comes first",
                help=f"{new} - {old}",
                edits=replaced(evidence, difference, f"{new} - {old}")
                if evidence.quoted(difference) == f"{old} - {new}"
                else (),
                confidence=0.93,
            )
