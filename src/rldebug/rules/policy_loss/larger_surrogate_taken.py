"""Of the clipped and the unclipped objective, the better one is taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.edits import replaced
from rldebug.syntax.losses import expanded, minimised
from rldebug.syntax.names import library
from rldebug.syntax.ratios import is_ratio

_OTHER = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True, kw_only=True)
class LargerSurrogateTaken(Rule):
    """Of the clipped and the unclipped objective, the better one is taken.

    ## What it checks
    `-torch.max(ratio * A, clipped * A)`, or `torch.min` of the two with a minus before them: for the loss of PPO it
    must be the worse of the two. Read from the source.

    ## Why it matters
    The better one is never the clipped one where it would hold the policy back: the clipping has no effect, the policy
    runs away from the data within one rollout, and the return collapses now and then.

    ## Likely causes
    1. The minus was moved into the two parts, or out of them, and min was not exchanged for max. Confirm: with A = 1
       and a ratio of 2 the loss must have no gradient.

    ## What to try first
    `-torch.min(s1, s2)`, or `torch.max(-s1, -s2)`.

    ## When it is fine
    Never, in a loss that is minimised.

    ## References
    Schulman et al., *Proximal policy optimization algorithms*.
    """

    code: ClassVar[str] = "POL622"
    name: ClassVar[str] = "larger-surrogate-taken"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL303", "POL002", "POL006", "POL009", "POL012")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for _, parts in minimised(evidence):
            for term in parts:
                call = term.leaf
                name = library(evidence, call)
                last = name.rpartition(".")[2]
                if not isinstance(call, ast.Call) or name != f"torch.{last}" or last not in _OTHER or call in told:
                    continue
                inner = [expanded(evidence, each) for each in call.args]
                if len(inner) != 2 or not all(len(each) == 1 and is_ratio(evidence, each[0].leaf) for each in inner):
                    continue
                sign, other = inner[0][0].sign, inner[1][0].sign
                takes_smaller = last.startswith("min")
                if sign != other or term.sign * sign > 0 or takes_smaller == (sign > 0):
                    continue
                told.add(call)
                where = evidence.at(call.func)
                right = evidence.quoted(call.func).replace(last, _OTHER[last])
                yield self.finding(
                    f"{last} takes the objective that clipping does not hold back",
                    where=where,
                    seen=f"{evidence.quoted(call)}, {'with' if term.sign < 0 else 'without'} a minus before it",
                    expected="the smaller objective, which is the larger loss",
                    help=f"{right}(…)",
                    edits=replaced(evidence, call.func, right),
                    confidence=0.93,
                )
