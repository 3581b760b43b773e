"""Scores of any size are given where probabilities are expected."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Edit, Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.heads import last_operations
from rldebug.syntax.names import argument, library
from rldebug.syntax.places import calls

_WITH_PROBABILITIES = frozenset({"Categorical", "Bernoulli", "OneHotCategorical", "Multinomial", "Geometric"})


@dataclass(frozen=True, kw_only=True)
class LogitsGivenAsProbabilities(Rule):
    """Scores of any size are given where probabilities are expected.

    ## What it checks
    `Categorical(x)` and `Categorical(probs=x)` (Bernoulli and others too), where the last operation that made `x` is a
    linear layer, or `log_softmax`: it was never turned into probabilities. The first argument without a name is
    `probs`. Read from the source.

    ## Why it matters
    Negative scores raise an exception; others are divided by their sum, which gives a distribution that hardly depends
    on them, and log-probs that do not fit.

    ## Likely causes
    1. `logits=` is missing. Confirm: read the line.
    2. `softmax` is missing in the network. Confirm: the same.

    ## What to try first
    `Categorical(logits=x)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    ACT-14 of bench/bugs.
    """

    code: ClassVar[str] = "ACT600"
    name: ClassVar[str] = "logits-given-as-probabilities"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            name = library(evidence, call)
            if not name.startswith("torch.distributions.") or name.rpartition(".")[2] not in _WITH_PROBABILITIES:
                continue
            given = argument(call, 0, "probs")
            if given is None:
                continue
            made = last_operations(evidence, given)
            if made and made <= {"linear", "log_softmax"}:
                what = "a linear layer" if "linear" in made else "log_softmax"
                first = bool(call.args) and call.args[0] is given
                yield self.finding(
                    f"{evidence.quoted(given)} comes from {what} and is taken for probabilities",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)}: {'the first argument is probs' if first else 'probs='}",
                    expected="probabilities, or logits= by name",
                    help=f"{evidence.quoted(call.func)}(logits={evidence.quoted(given)})",
                    confidence=0.95,
                    edits=_named(evidence, call, given) if first else (),
                )


def _named(source: Source, call: ast.Call, given: ast.expr) -> tuple[Edit, ...]:
    """Where it is the only argument, a name before it mends the line."""
    text = ast.get_source_segment(source.text, given)
    return (source.replaced(given, f"logits={text}"),) if text and len(call.args) == 1 else ()
