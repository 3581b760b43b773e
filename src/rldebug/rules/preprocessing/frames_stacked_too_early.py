"""Frames are stacked before they are skipped or shrunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FramesStackedTooEarly(Rule):
    """Frames are stacked before they are skipped or shrunk.

    ## What it checks
    The order of the wrappers, from what each was seen to do. A stack of frames inside of a wrapper that skips frames is
    a warning; inside of one that makes grey or resizes, a note.

    ## Why it matters
    A stack inside of a skip holds the last raw frames, a few hundredths of a second, instead of the last decisions:
    there is hardly any motion in it. A stack inside of a resize costs the work and the memory of every frame several
    times.

    ## Likely causes
    1. The wrappers were put on in the order in which they are read. Confirm: print the environment: the innermost is
       applied first.

    ## What to try first
    Skip, then make grey and resize, then stack.

    ## When it is fine
    Raw frames are wanted, as a sensor of speed.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning* (methods, preprocessing).
    """

    code: ClassVar[str] = "PRE002"
    name: ClassVar[str] = "frames-stacked-too-early"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.layers:
            raise NotEnough("the wrappers could not be looked at")
        stacks = [i for i, layer in enumerate(evidence.layers) if "stacks frames" in layer.roles]
        for i, layer in enumerate(evidence.layers):
            late = layer.roles & {"skips frames", "makes grey", "resizes"} - {"stacks frames"}
            if not late or not any(i < each for each in stacks):
                continue
            stacker = evidence.layers[max(stacks)]
            yield self.finding(
                f"frames are stacked too early, by {stacker.name}",
                where=stacker.where,
                seen=f"{stacker.name} stands inside of {layer.name}, which {' and '.join(sorted(late))}",
                expected="skip, then grey and resize, then stack",
                help=f"put {stacker.name} on after {layer.name}",
                confidence=0.75,
                severity="warning" if "skips frames" in late else "note",
            )
            return
