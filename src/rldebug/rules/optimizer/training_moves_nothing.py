"""Training goes on, and nothing that can be measured moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, still
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TrainingMovesNothing(Rule):
    """Training goes on, and nothing that can be measured moves.

    ## What it checks
    After all attempts the weights that optimizers hold are where they were; or, on every rung that failed, values and
    policy never changed by a millionth, and no rung was passed. (A policy that never moves can be right by luck: then
    the weights tell.)

    ## Why it matters
    Whatever is wrong besides, this comes first: nothing can be learned.

    ## Likely causes
    1. The optimizer holds the parameters of another network: a copy, or one that was replaced after it was made.
       Confirm: compare `id(p)` of its parameters with those of the network that acts.
    2. `optimizer.step()` is never reached, or the learning rate is 0. Confirm: print the learning rate beside the
       norm of one weight before and after a step.
    3. The network that acts is not the one that is trained. Confirm: print the norm of the acting network's weights
       after each update.

    ## What to try first
    Print the norm of one weight of the acting network before and after `optimizer.step()`.

    ## When it is fine
    Never, for something that is said to learn.

    ## References
    Karpathy, *A Recipe for Training Neural Networks* (overfit one batch first).
    """

    code: ClassVar[str] = "OPT010"
    name: ClassVar[str] = "training-moves-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"

    moved: float = 1e-9  # root mean square over all weights; less is rounding

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        failed = [each for each in evidence.rungs if each.outcome == "failed"]
        if not failed:
            return
        tried = [a for each in evidence.rungs for a in each.attempts if a.updates and a.moved is not None]
        # On all rungs: where every reward is the same, a policy has nothing to learn, and only the critic may be stuck.
        unmoved = (
            tried
            if len(evidence.rungs) > 1 and all(a.moved is not None and a.moved <= self.moved for a in tried)
            else []
        )
        decided = [each for each in evidence.rungs if each.outcome in ("passed", "failed")]
        if not unmoved and not (
            len(failed) > 1 and all(still(each) for each in failed) and len(failed) == len(decided)
        ):
            return
        attempt = unmoved[0] if unmoved else failed[0].attempts[-1]
        moved = f"moved the weights by {attempt.moved:.2g}" if attempt.moved is not None else "were seen"
        numbers = shown(failed[0])
        yield self.finding(
            "nothing that is measured moves while the algorithm trains",
            seen=f"{attempt.updates} optimizer steps {moved}; {numbers['seen']}, as at the start",
            expected=numbers["expected"],
            help="print the norm of a weight of the acting network before and after optimizer.step()",
            confidence=0.95 if unmoved else 0.9,
        )
