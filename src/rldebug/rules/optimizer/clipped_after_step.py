"""Gradients are clipped after the optimizer has used them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument
from rldebug.syntax.training import Event, blocks, events


@dataclass(frozen=True, kw_only=True)
class ClippedAfterStep(Rule):
    """Gradients are clipped after the optimizer has used them.

    ## What it checks
    In one block of statements: `backward()`, `step()`, and only then `clip_grad_norm_()` or `clip_grad_value_()`, with
    no new `backward()` in between. Read from the source.

    ## Why it matters
    The clipping has no effect: the step was taken with the whole gradient, and what is clipped is cleared before the
    next one.

    ## Likely causes
    1. The two lines changed places. Confirm: read them.

    ## What to try first
    `loss.backward()`, then `clip_grad_norm_(…)`, then `optimizer.step()`.

    ## When it is fine
    Where only the norm it returns is wanted, for a log; then say `max_norm=float("inf")`.

    ## References
    OPT-09 of bench/bugs.
    """

    code: ClassVar[str] = "OPT641"
    name: ClassVar[str] = "clipped-after-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT300",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for block in blocks(evidence):
            for clip, step in _late(events(evidence, block)):
                if _only_measured(evidence, clip):
                    continue
                yield self.finding(
                    "gradients are clipped after the step that used them: the clipping has no effect",
                    where=evidence.at(clip.call),
                    seen=f"{evidence.quoted(step.call)} on line {step.call.lineno}, and the clipping after it",
                    expected="backward(), then clip, then step()",
                    help=f"move the clipping above line {step.call.lineno}",
                    confidence=0.95,
                )


def _late(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Clippings behind a step, of gradients that were not clipped before it."""
    for place, each in enumerate(events):
        before = [one.what for one in events[:place]]
        if each.what != "clip" or "step" not in before or "backward" not in before:
            continue
        step = len(before) - 1 - before[::-1].index("step")
        backward = len(before) - 1 - before[::-1].index("backward")
        since = before[backward:step]
        if backward < step and "clip" not in since and "clear" not in before[step:]:
            yield each, events[step]


def _only_measured(source: Source, clip: Event) -> bool:
    """A bound that nothing is beyond: float("inf"), math.inf."""
    bound = argument(clip.call, 1, "max_norm", "clip_value")
    return bound is not None and "inf" in source.quoted(bound).lower()
