"""A function of one's own returns a gradient that does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CustomGradientUnfit(Rule):
    """A function of one's own returns a gradient that does not fit.

    ## What it checks
    `backward` of a custom `autograd.Function`, or a hook, returned another shape or another number of gradients
    than there are inputs.

    ## Why it matters
    Each input of forward gets one gradient of its shape; inputs that need none get None.

    ## Likely causes
    1. `backward` sums over the batch, or forgets to undo a broadcast. Confirm: print the shapes of its argument and
       of its result.
    2. `forward` takes a coefficient besides the tensor, and `backward` returns one value. Confirm: count the
       arguments.
    3. A hook returns an element instead of the gradient. Confirm: the same.

    ## What to try first
    Return as many values as forward takes, None for settings.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Extending PyTorch*: `torch.autograd.Function`.
    """

    code: ClassVar[str] = "GRA450"
    name: ClassVar[str] = "custom-gradient-unfit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "[Ff]unction \\w+Backward\\w* returned an (invalid gradient|incorrect number of gradients)",
            "hook '.*' has changed the (size|type) of value",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"[Ff]unction (\w+)Backward", evidence.message)
        hook = re.search(r"hook '(.*?)'", evidence.message)
        who = f"backward() of {found[1]}" if found else f"the hook {hook[1]}" if hook else "backward()"
        shapes = re.search(r"got (\[.*?\]) but expected shape compatible with (\[.*?\])", evidence.message)
        counts = re.search(r"expected (\d+), got (\d+)", evidence.message)
        how = f": {shapes[1]} instead of {shapes[2]}" if shapes else ""
        how = f": {counts[2]} instead of {counts[1]}" if counts else how
        yield self.finding(
            f"{who} returns what does not fit{how}",
            where=evidence.where,
            seen=evidence.said,
            expected="one gradient for each input of forward, of its shape",
            help="return one value for each argument of forward, None for those that are no tensors"
            if counts
            else "return a gradient of the shape of the input: undo the broadcast or sum that forward made",
            confidence=0.95,
        )
