"""Gradients are clipped before there are any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.training import Event, blocks, events


@dataclass(frozen=True, kw_only=True)
class ClippedBeforeBackward(Rule):
    """Gradients are clipped before there are any.

    ## What it checks
    In one block of statements: `zero_grad()`, then `clip_grad_norm_()` or `clip_grad_value_()`, and only then
    `backward()` and `step()`, with no clipping between those two. Read from the source.

    ## Why it matters
    The clipping meets cleared gradients and has no effect: the step is taken with the whole gradient.

    ## Likely causes
    1. The two lines changed places. Confirm: print what the clipping returns, it is 0.

    ## What to try first
    `loss.backward()`, then `clip_grad_norm_(…)`, then `optimizer.step()`.

    ## When it is fine
    Never: there is nothing to clip, or to measure.

    ## References
    PyTorch, *torch.nn.utils.clip_grad_norm_*.
    """

    code: ClassVar[str] = "OPT654"
    name: ClassVar[str] = "clipped-before-backward"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for block in blocks(evidence):
            for clip, backward in _early(events(evidence, block)):
                yield self.finding(
                    "gradients are clipped before backward() makes them: the clipping has no effect",
                    where=evidence.at(clip.call),
                    seen=f"{evidence.quoted(clip.call)}, and {evidence.quoted(backward.call)} after it",
                    expected="backward(), then clip, then step()",
                    help=f"move the clipping below line {backward.call.lineno}",
                    confidence=0.95,
                )


def _early(found: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Clippings right behind the clearing, with the backward() that follows and is stepped on unclipped."""
    for place, each in enumerate(found[:-1]):
        if each.what != "clip" or place == 0 or found[place - 1].what != "clear":
            continue
        rest = [one.what for one in found[place + 1 :]]
        if rest[0] == "backward" and "step" in rest and "clip" not in rest[: rest.index("step")]:
            yield each, found[place + 1]
