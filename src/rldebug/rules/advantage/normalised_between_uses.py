"""The advantages are normalised between the two parts of one loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, reaching
from rldebug.syntax.flow import meant
from rldebug.syntax.names import library, method
from rldebug.syntax.places import calls
from rldebug.syntax.sums import factors


@dataclass(frozen=True, kw_only=True)
class NormalisedBetweenUses(Rule):
    """The advantages are normalised between the two parts of one loss.

    ## What it checks
    min() or max() of two products that share a name, where that name is bound anew to `(x - x.mean()) / x.std()`
    between the first product and the second. Read from the source.

    ## Why it matters
    Numbers of two scales are compared: the raw part wins or loses whatever the ratio says, so that the clipping works
    for all samples or for none.

    ## Likely causes
    1. The line that normalises slipped below the first product. Confirm: read the lines in their order.

    ## What to try first
    Normalise before both products.

    ## When it is fine
    Never.

    ## References
    ADV-07 of bench/bugs (TorchRL PR 1033).
    """

    code: ClassVar[str] = "ADV620"
    name: ClassVar[str] = "normalised-between-uses"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ADV001", "POL303")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            if library(evidence, call) not in ("torch.min", "torch.max", "torch.minimum", "torch.maximum"):
                continue
            if len(call.args) != 2:
                continue
            sides = [_names(meant(evidence, each)) for each in call.args]
            for name in sides[0].keys() & sides[1].keys():
                one, other = (reaching(evidence, each[name]) for each in sides)
                later = [each for each in (*one, *other) if each not in one or each not in other]
                between = next((each for each in later if _normalises(each)), None)
                if between is None or (between in one and between in other):
                    continue
                yield self.finding(
                    f"{name} is normalised after one of the two parts of the loss has used it",
                    where=evidence.at(between.node),
                    seen=f"{evidence.quoted(between.node)}, between the two parts of {evidence.quoted(call)}",
                    expected=f"both parts use the same {name}",
                    help=f"move the line above the first use of {name}",
                    confidence=0.93,
                )


def _names(node: ast.expr) -> dict[str, ast.Name]:
    _, parts = factors(node)
    return {each.id: each for each in parts if isinstance(each, ast.Name)} if len(parts) > 1 else {}


def _normalises(binding: Binding) -> bool:
    value = binding.whole
    if value is None:
        return False
    inside = [each for each in ast.walk(value) if isinstance(each, ast.Name) and each.id == binding.name]
    return bool(inside) and any(method(each) in ("std", "mean", "var") for each in ast.walk(value))
