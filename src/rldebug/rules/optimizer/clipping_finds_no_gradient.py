"""Clipping is given parameters that have no gradient at that time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.clips import clips_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClippingFindsNoGradient(Rule):
    """Clipping is given parameters that have no gradient at that time.

    ## What it checks
    Each time that gradients are clipped, whether there are any. Each time there are none, or all are 0; and steps were
    seen with gradients longer than the limit, which were clipped nowhere else. Exact.

    ## Why it matters
    The limit in the settings has no effect.

    ## Likely causes
    1. `clip_grad_norm_` stands above `backward()`. Confirm: read the line that is named.
    2. It is given another network than the one that learns, such as the target network. Confirm: print what it
       returns: 0.
    3. `parameters()` was used up: it is a generator, and gives nothing the second time. Confirm: make a list of it.

    ## What to try first
    Put the clipping between `backward()` and `step()`, with the parameters of the optimizer that steps.

    ## When it is fine
    Never; but where gradients stay below the limit it does no harm, and nothing is said.

    ## References
    PyTorch, `torch.nn.utils.clip_grad_norm_`.
    """

    code: ClassVar[str] = "OPT301"
    name: ClassVar[str] = "clipping-finds-no-gradient"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    times: int = 6  # that a line was seen to clip
    steps: int = 3  # with a longer gradient, which was not clipped

    def check(self, evidence: Script) -> Iterator[Finding]:
        lines = [each for each in clips_of(evidence) if len(each.events) >= self.times]
        if not lines:
            raise NotEnough(f"gradients were seen to be clipped fewer than {self.times} times")
        for each in lines:
            if not each.empty:
                continue
            clipped = {module for other in clips_of(evidence) if not other.empty for module in other.modules}
            long = [
                float(step["grad_norm"])
                for _, step in evidence.events("step")
                if step.get("grad_norm") is not None
                and float(step["grad_norm"]) > each.limit
                and not clipped & set(step.get("grad_norms") or ())
            ]
            if len(long) >= self.steps:
                yield self.finding(
                    "gradients are clipped where there are none",
                    where=each.events[0].where,
                    seen=f"no gradient in any of the {each.events[0]['tensors']} tensors, {len(each.events)} of "
                    f"{len(each.events)} times; {len(long)} steps used one longer than {each.limit:g}, up to "
                    f"{max(long):.3g}",
                    expected="clipping between backward() and step(), of the network that steps",
                    help="move clip_grad_norm_ below backward(), and give it the parameters that the optimizer holds",
                    confidence=0.95,
                )
