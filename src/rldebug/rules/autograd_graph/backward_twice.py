"""A graph is asked for its gradient a second time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BackwardTwice(Rule):
    """A graph is asked for its gradient a second time.

    ## What it checks
    The program ended with PyTorch's error that a graph was gone through twice: the first `backward()` had freed it.

    ## Why it matters
    Something that should be data still carries the graph of the pass that made it. `retain_graph=True` silences the
    error, and then gradients flow into an old pass of the network, with weights that have changed since.

    ## Likely causes
    1. Values, log-probs or a recurrent state were stored with their graph while acting, and are used in more than one
       update. Confirm: `requires_grad` of what comes out of the buffer is True.
    2. Two losses share one forward pass, or one loss reaches into another's, as an advantage that is not detached does;
       each is then propagated by itself. Confirm: add the losses, and call `backward()` once.
    3. A loss is kept from one iteration to the next and added to. Confirm: it is made anew in each iteration.

    ## What to try first
    Collect under `torch.no_grad()`, and detach what is data in a loss: advantages, targets, old log-probs.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA401"
    name: ClassVar[str] = "backward-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"backward through the graph a second time|saved tensors after they have already been freed"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        stored = [
            f"{name} {told(fact)}"
            for _, name, fact in evidence.held("tensor")
            if fact.get("ops") and fact["shape"] and name not in evidence.operands()
        ]
        carried = f"; carrying a graph: {', '.join(stored[:3])}" if stored else ""
        yield self.finding(
            "a graph was asked for its gradient a second time",
            where=evidence.where,
            seen=f"{evidence.said}{carried}",
            expected="each backward() to go through a forward pass of its own",
            help="collect under torch.no_grad(), and detach what is data in a loss; retain_graph only hides it",
            confidence=0.95,
        )
