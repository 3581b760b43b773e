"""The network gives probabilities, and a softmax is taken of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NetworkEndsInSoftmax(Rule):
    """The network ends in a softmax, and its output is taken for logits.

    ## What it checks
    Policy losses whose log-probs are those of a softmax of a softmax, by their graph. And the network that they lead
    to: each row of an output of it, as wide as there are choices, is not negative and sums to 1. So the first of the
    two is its own last operation.

    ## Why it matters
    Probabilities lie between 0 and 1, so that the likeliest of them is at most e times as likely as the others: the
    policy can never become certain, and its gradient is small.

    ## Likely causes
    1. `softmax` stands at the end of `forward`, and `Categorical(logits=…)` or `cross_entropy` takes another one.
       Confirm: the rows of the output sum to 1.

    ## What to try first
    Let the network give logits: leave its softmax out.

    ## When it is fine
    Never on purpose.

    ## References
    The PyTorch documentation of `torch.distributions.Categorical`.
    """

    code: ClassVar[str] = "NET520"
    name: ClassVar[str] = "network-ends-in-softmax"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # of a softmax of a softmax
    rows: int = 32  # of the output
    exact: float = 1e-4  # that their sum may be off

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = [(audit, term) for audit, term in evidence.terms("policy") if "twice" in term.detail]
        if len(judged) < self.losses:
            raise NotEnough(f"{len(judged)} losses of a policy, needs {self.losses}")
        double = [(audit, term) for audit, term in judged if term["twice"]]
        if len(double) < max(self.losses, 0.9 * len(judged)):
            return
        named = {name for audit, term in double for name in self._normalised(audit, term)}
        if not named or any(named != self._normalised(audit, term) for audit, term in double):
            return
        first = next((term for _, term in double if term.get("inner")), double[0][1])
        line = first.get("inner")
        where = Where(file=line[0], line=line[1], update=first.update) if line else first.where
        name = " and ".join(sorted(named))
        yield self.finding(
            f"{name} gives probabilities, and a softmax is taken of them once more",
            where=where,
            seen=f"rows of its output sum to 1; log-probs of a softmax of a softmax in {len(double)} of {len(judged)} "
            "policy losses",
            expected="logits from the network, and one softmax after it",
            help="leave the softmax out of the network, or build Categorical(probs=...)",
            confidence=0.97,
        )

    def _normalised(self, audit: Audit, term: Event) -> set[str]:
        """Networks beneath the loss that give probabilities of as many choices as there are, and no scores."""
        wide = _choices(audit) | set(term.get("entropies") or ())
        found: dict[str, list[bool]] = {}
        for call in audit.calls:
            if call["module"] not in (term.get("reached") or ()):
                continue
            outputs = [each for name, each in call.arrays.items() if name.startswith("output") and each.ndim == 2]
            fits = [each for each in outputs if each.shape[1] in wide and len(each) >= self.rows]
            if fits:
                found.setdefault(call["module"], []).append(all(self._sums_to_one(each) for each in fits))
        return {name for name, each in found.items() if all(each)}

    def _sums_to_one(self, rows: NDArray[Any]) -> bool:
        whole = np.asarray(rows, dtype=np.float64)
        inside = bool((whole >= 0).all() and (np.abs(whole.sum(axis=1) - 1) < self.exact).all())
        return inside and bool(((whole > self.exact) & (whole < 1 - self.exact)).any())


def _choices(audit: Audit) -> set[int]:
    """How many choices the distributions have that are drawn from, or scored."""
    found = set()
    for event in audit.of("sample", "logp"):
        params, result = event.arrays.get("params"), event.arrays.get("result")
        if params is None or result is None or event.get("params") not in (["logits"], ["probs"]):
            continue
        found.add(params.shape[1] if params.ndim == 2 and result.ndim == 1 else params.size // max(result.size, 1))
    return found - {0, 1}
