"""Gradients are cleared between backward() and step()."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import same
from rldebug.syntax.names import receiver
from rldebug.syntax.training import Event, blocks, events


@dataclass(frozen=True, kw_only=True)
class ClearedBeforeStep(Rule):
    """Gradients are cleared between backward() and step().

    ## What it checks
    In one block of statements: `backward()`, then `zero_grad()` of an optimizer, then `step()` of the same one, with no
    new `backward()` in between. Read from the source.

    ## Why it matters
    The step is taken with no gradient at all: nothing is learned, and nothing complains.

    ## Likely causes
    1. The lines changed places. Confirm: read them.

    ## What to try first
    `optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`, in this order.

    ## When it is fine
    Nothing that is known of.

    ## References
    OPT-01 of bench/bugs.
    """

    code: ClassVar[str] = "OPT642"
    name: ClassVar[str] = "cleared-before-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for block in blocks(evidence):
            for clear, step in _thrown_away(events(evidence, block)):
                name = evidence.quoted(step.call.func).removesuffix(".step")
                yield self.finding(
                    f"{name} steps on gradients that were just cleared: nothing is learned",
                    where=evidence.at(clear.call),
                    seen=f"{evidence.quoted(clear.call)} between backward() and {evidence.quoted(step.call)}",
                    expected="zero_grad() before backward(), or after step()",
                    help=f"move {evidence.quoted(clear.call)} above the backward()",
                    confidence=0.96,
                )


def _thrown_away(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    for place, clear in enumerate(events):
        if clear.what != "clear" or "backward" not in [one.what for one in events[:place]]:
            continue
        for later in events[place + 1 :]:
            if later.what == "backward":
                break
            if later.what == "step" and same(receiver(later.call), receiver(clear.call)):
                if not any(
                    one.what == "step" and same(receiver(one.call), receiver(clear.call)) for one in events[:place]
                ):
                    yield clear, later
                break
