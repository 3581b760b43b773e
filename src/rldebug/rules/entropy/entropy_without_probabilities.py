"""What is paid as entropy lacks the probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EntropyWithoutProbabilities(Rule):
    """What is paid as entropy lacks the probabilities.

    ## What it checks
    A loss with a policy gradient has a further term. Row by row, its numbers are the log-probabilities of all actions,
    added up or averaged, and the loss falls when they do.

    ## Why it matters
    The entropy is -Σ p log p. Without p the sum has its largest value, without a bound, where some action has no
    probability at all: what was to keep the policy open drives it shut, the harder the more it is so.

    ## Likely causes
    1. `-log_probs.sum(-1)` where `-(log_probs.exp() * log_probs).sum(-1)` was meant. Confirm: print it beside
       `Categorical(logits=log_probs).entropy()`.

    ## What to try first
    `Categorical(logits=logits).entropy().mean()`.

    ## When it is fine
    With the other sign it is the divergence from the uniform policy, and keeps the policy open; that is not spoken of.

    ## References
    Williams & Peng 1991, *Function Optimization Using Connectionist Reinforcement Learning Algorithms*.
    """

    code: ClassVar[str] = "ENT250"
    name: ClassVar[str] = "entropy-without-probabilities"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    losses: int = 3  # that show it
    rows: int = 8  # in each

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, found = 0, []
        for audit in evidence.audits:
            for loss, terms in audit.losses:
                kinds = {each["kind"] for each in terms}
                if loss["how"] != "backward" or "policy" not in kinds:
                    continue
                for term in terms:
                    value = term.arrays.get("output")
                    if term["kind"] != "output" or value is None or np.size(value) < self.rows:
                        continue
                    judged += 1
                    push = _push(audit, term, np.ravel(value).astype(np.float64))
                    if push * float(term.get("coefficient") or 0.0) > 0:
                        found.append(term)
        if not judged:
            raise NotEnough("no policy loss with an output of a network as a further term was seen")
        if len(found) >= self.losses:
            yield self.finding(
                "what is paid as entropy lacks the probabilities",
                where=found[0].where,
                seen=f"the sum of the log-probabilities of all actions, with the factor "
                f"{abs(found[0]['coefficient']):.3g} and made smaller, in {len(found)} losses",
                expected="-Σ p log p, made larger",
                help="-(log_probs.exp() * log_probs).sum(-1), or Categorical(logits=logits).entropy()",
                confidence=0.95,
            )


def _push(audit: Audit, term: Event, value: Array) -> float:
    """1 where the numbers are sums of log-probabilities, -1 where they are the opposite of such, 0 where neither."""
    for call in audit.calls:
        if call.order > term.order or not call["grad"] or call["module"] not in (term.get("reached") or ()):
            continue
        orders = call.arrays.get("orders")
        for place in range(4):
            output = call.arrays.get(f"output{place}")
            if output is None or output.ndim != 2 or output.shape[1] < 2 or output.dtype.kind != "f":
                continue
            if orders is not None and len(orders) == len(output):
                output = output[orders < term.order]
            total = _log_probs(output[-len(value) :].astype(np.float64)).sum(axis=1)
            # The first forward pass of a phase is over when its audit begins.
            if len(total) < 0.5 * len(value) or total.std() < 1e-4:
                continue
            for sums in (total, total / output.shape[1]):
                for sign in (1.0, -1.0):
                    if np.allclose(sign * value[-len(sums) :], sums, rtol=1e-3, atol=1e-3):
                        return sign
    return 0.0


def _log_probs(output: Array) -> Array:
    top = output.max(axis=1, keepdims=True)
    return np.asarray(output - top - np.log(np.exp(output - top).sum(axis=1, keepdims=True)))
