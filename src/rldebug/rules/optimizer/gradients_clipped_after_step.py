"""Gradients are clipped when the step has been taken already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.clips import clips_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientsClippedAfterStep(Rule):
    """Gradients are clipped when the step has been taken already.

    ## What it checks
    Each time that gradients are clipped, whether they are the very numbers that a step of their optimizer has just
    used, with no backward pass in between. It is so every time, and no other line clips these gradients. Exact.

    ## Why it matters
    Nothing is limited: the step has used the gradient at its full length, and the clipped one is cleared unused. The
    limit in the settings has no effect, and one bad batch can throw the weights far off.

    ## Likely causes
    1. `clip_grad_norm_` stands below `optimizer.step()`. Confirm: read the line that is named.
    2. The step is taken in a helper that also runs the backward pass. Confirm: look for `step()` in it.

    ## What to try first
    Move the clipping between `backward()` and `step()`.

    ## When it is fine
    Where the norm is only to be logged: a limit of infinity says so, and is not counted.

    ## References
    PyTorch, `torch.nn.utils.clip_grad_norm_`.
    Seen in the wild: OPT-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "OPT300"
    name: ClassVar[str] = "gradients-clipped-after-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    times: int = 4  # that a line was seen to clip

    def check(self, evidence: Script) -> Iterator[Finding]:
        lines = clips_of(evidence)
        if not any(len(each.events) >= self.times for each in lines):
            raise NotEnough(f"gradients were seen to be clipped fewer than {self.times} times")
        in_time = {module for each in lines if not each.late for module in each.modules}
        for each in lines:
            if len(each.events) >= self.times and each.late and not each.modules & in_time:
                yield self.finding(
                    "gradients are clipped after the step that uses them",
                    where=each.events[0].where,
                    seen=f"gradients that a step had used already, {len(each.events)} of {len(each.events)} times",
                    expected="clipping between backward() and step()",
                    help="move clip_grad_norm_ above optimizer.step()",
                    confidence=0.98,
                )
