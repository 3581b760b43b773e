"""The loss uses what the last round of the rollout left behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import computed_from
from rldebug.syntax.losses import expanded
from rldebug.syntax.names import method, receiver
from rldebug.syntax.places import before, calls, loops_of
from rldebug.syntax.stepping import steps

_SCORES = ("entropy", "log_prob")


@dataclass(frozen=True, kw_only=True)
class OnlyLastStepUsed(Rule):
    """The loss uses what the last round of the rollout left behind.

    ## What it checks
    An entropy or a log-prob is bound in a loop that steps an environment, is not collected there, and is read after the
    loop on the way to backward(). Read from the source.

    ## Why it matters
    Of the whole rollout only the last step enters the loss. An entropy bonus becomes noise, a policy loss learns from
    one action.

    ## Likely causes
    1. The name of the step was taken in place of the list. Confirm: print its shape next to that of the returns.

    ## What to try first
    `entropies.append(entropy)` in the loop, `torch.stack(entropies).mean()` after it.

    ## When it is fine
    Where the last step alone is meant.

    ## References
    POL-04 of bench/bugs (Gymnasium PR 1524).
    """

    code: ClassVar[str] = "POL625"
    name: ClassVar[str] = "only-last-step-used"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENT303", "POL350")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[str] = set()
        rollouts = [loops[0] for each in steps(evidence) if (loops := loops_of(evidence, each.call))]
        for call in calls(evidence) if rollouts else ():
            loss = receiver(call)
            if method(call) != "backward" or loss is None:
                continue
            for use in computed_from(evidence, loss, graph=True):
                if not isinstance(use, ast.Name) or use.id in told:
                    continue
                loop = next((each for each in rollouts if _left_behind(evidence, use, each)), None)
                if loop is None or not any(method(each.leaf) in _SCORES for each in expanded(evidence, use)):
                    continue
                told.add(use.id)
                yield self.finding(
                    f"{use.id} is that of the last step of the rollout only",
                    where=evidence.at(use),
                    seen=f"{use.id} is bound anew in each round of the loop in line {loop.lineno} and read after it",
                    expected="what was collected over all steps",
                    help=f"append {use.id} to a list in the loop, and stack the list for the loss",
                    confidence=0.9,
                )


def _left_behind(source: Source, use: ast.Name, loop: ast.For | ast.While | ast.AsyncFor) -> bool:
    """Whether a name that is read after a loop was bound in it, and nothing of it was collected."""
    inside = set(ast.walk(loop))
    bindings = reaching(source, use)
    if use in inside or not before(loop, use) or not bindings:
        return False
    if any(each.node not in inside or each.how != "assigned" for each in bindings):
        return False
    return not any(
        isinstance(each, ast.Name) and each.id == use.id and isinstance(each.ctx, ast.Load) for each in inside
    )
