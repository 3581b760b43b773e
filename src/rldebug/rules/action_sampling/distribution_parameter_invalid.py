"""A distribution is made of numbers that are none of its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown
from rldebug.evidence.crashes.signs import operands_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DistributionParameterInvalid(Rule):
    """A distribution is made of numbers that are none of its parameters.

    ## What it checks
    A distribution refused its parameters, and none of them is NaN: probabilities that are negative or do not sum to 1,
    a scale that is not positive.

    ## Why it matters
    Actions cannot be drawn from it; where no check is made, they are drawn from another distribution than is meant.

    ## Likely causes
    1. Logits or log-probs are passed as probabilities: `Categorical(x)` takes probabilities. Confirm: print the
       smallest element.
    2. The scale is the plain output of the network, or a log-std that is not exponentiated. Confirm: the same.
    3. Every action of a row is masked. Confirm: print the smallest number of allowed actions.

    ## What to try first
    Write `Categorical(logits=…)`; make a scale with `exp` or `softplus`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.distributions`.
    """

    code: ClassVar[str] = "ACT401"
    name: ClassVar[str] = "distribution-parameter-invalid"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "parameter"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        message, expected, help = _mistake(evidence)
        made = None if "logits=" in help else evidence.graph.get("made")  # rightly made, and passed as the other one
        origin = f"; {evidence.graph.get('name')} is made in {shown(evidence, made)}" if made else ""
        yield self.finding(
            message,
            where=at(evidence, made),
            seen=f"{evidence.said}{operands_told(evidence)}{origin}",
            expected=expected,
            help=help,
            confidence=0.9,
        )


def _mistake(crash: Crash) -> tuple[str, str, str]:
    """What is wrong with the numbers, what they should be, and what to write."""
    found = re.search(r"Expected parameter (\w+) .*?of distribution (\w+)", crash.message, re.DOTALL)
    parameter, distribution = found.groups() if found else ("", "")
    names = [name for name, fact in crash.operands().items() if fact["kind"] in ("tensor", "array")]
    what = names[0] if len(names) == 1 else "what it is made of"
    if parameter in ("scale", "stddev", "scale_diag") or "GreaterThan(lower_bound=0" in crash.message:
        return (
            f"the {parameter or 'scale'} of a {distribution} is not above 0",
            "a positive number for each action",
            "make it positive: log_std.exp(), F.softplus(x) + 1e-5, and clamp the log-std, to -20 and 2",
        )
    if parameter in ("covariance_matrix", "precision_matrix", "scale_tril") or crash.says("not positive-definite"):
        return (
            f"{f'the {parameter} of a {distribution}' if parameter else what} is not positive-definite",
            "a symmetric matrix with positive eigenvalues, or a lower triangle with a positive diagonal",
            "use Independent(Normal(mean, std), 1), or add 1e-4 to the diagonal",
        )
    if crash.says("sum of probabilities <= 0", r"(?s)invalid values:.*\bnan\b"):
        return (
            f"no action is left: {what} is 0 in a whole row",
            "at least one allowed action in each row",
            "check that each row of the mask allows an action; mask logits, not probabilities",
        )
    if crash.says("do not sum to 1"):
        return (
            f"the probabilities in {what} do not sum to 1",
            "probabilities that sum to 1",
            "divide them by their sum in float64: p = p.astype(np.float64); p /= p.sum()",
        )
    return (
        f"a distribution was given numbers that are no probabilities: {what}",
        "probabilities that are not negative",
        "pass the network's output as logits: Categorical(logits=x); with np.random.choice or multinomial take "
        "softmax first",
    )
