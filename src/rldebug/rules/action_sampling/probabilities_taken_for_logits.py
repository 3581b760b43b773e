"""Probabilities are given where logits are expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.chances import log_softmax
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ProbabilitiesTakenForLogits(Rule):
    """A softmax is taken of a softmax.

    ## What it checks
    The parameters of the distribution that actions are drawn from, or whose log-probs are taken, against the output
    of the network just before: whether its logits are probabilities, so that the softmax is taken a second time. Both
    readings are computed; rows in which they agree are left out.

    ## Why it matters
    Probabilities lie between 0 and 1, so that the likeliest of them is at most e times as likely as the others: the
    policy can never become certain, and its gradient is small.

    ## Likely causes
    1. The network ends in a softmax, and `Categorical(logits=…)` or `cross_entropy` takes another one. Confirm: the
       rows of its output sum to 1.

    ## What to try first
    Leave the softmax out of the network, or use `Categorical(probs=…)`.

    ## When it is fine
    Never on purpose.

    ## References
    The PyTorch documentation of `torch.distributions.Categorical`.
    """

    code: ClassVar[str] = "ACT322"
    name: ClassVar[str] = "probabilities-taken-for-logits"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scores"
    follows: ClassVar[tuple[str, ...]] = ("NET520",)

    rows: int = 32  # in which one softmax and two can be told apart
    exact: float = 1e-4  # nats
    losses: int = 3  # in which both are seen
    apart: float = 2e-3  # nats between one softmax and two, for a row to tell them apart

    def check(self, evidence: Script) -> Iterator[Finding]:
        twice: Counter[str] = Counter()
        once: Counter[str] = Counter()
        where = None
        for audit in evidence.audits:
            for event, order, params in _distributions(audit):
                output = _before(audit, order, params.shape)
                if output is None:
                    continue
                right = log_softmax(output)
                # The softmax may be the last thing in the network, or the first thing after it.
                inside = (output >= 0).all(axis=1) & (np.abs(output.sum(axis=1) - 1) < 1e-4)
                wrong = np.where(inside[:, None], right, log_softmax(np.exp(right)))
                other = np.where(inside[:, None], np.log(np.maximum(output, 1e-30)), right)
                tells = np.abs(wrong - other).max(axis=1) > self.apart
                hit = tells & (np.abs(params - wrong).max(axis=1) < self.exact)
                twice[event.kind] += int(hit.sum())
                once[event.kind] += int((tells & (np.abs(params - other).max(axis=1) < self.exact)).sum())
                where = event.where if where is None and hit.any() else where
        # The loss itself tells where both are taken inside of the network.
        losses = [term for _, term in evidence.terms("policy") if "twice" in term.detail]
        double = [term for term in losses if term["twice"]]
        if len(double) >= self.losses and len(double) >= 0.9 * len(losses):
            yield self.finding(
                "the softmax is applied twice",
                where=double[0].where,
                seen=f"log-probs of a softmax of a softmax in {len(double)} of {len(losses)} policy losses",
                expected="one softmax between the network and the log-probs",
                help="leave the softmax out of the network, or build Categorical(probs=...)",
                confidence=0.97,
            )
            return
        # Drawing and scoring are judged apart: one of them may be right.
        kind = max(twice, key=lambda each: twice[each] / max(twice[each] + once[each], self.rows), default="sample")
        hits, seen = twice[kind], twice[kind] + once[kind]
        if seen < self.rows:
            raise NotEnough(f"{seen} rows of distributions that follow from an output of a network, needs {self.rows}")
        if hits < 0.9 * seen:
            return
        yield self.finding(
            "probabilities are taken for logits: the softmax is applied twice",
            where=where,
            seen=f"the distribution that {'is drawn from' if kind == 'sample' else 'log-probs are taken of'} is the "
            f"softmax of a softmax in {hits} of {seen} rows that tell",
            expected="logits as the network puts them out, or probs= in place of logits=",
            help="leave the softmax out of the network, or build Categorical(probs=...)",
            confidence=0.97,
        )


def _distributions(audit: Audit) -> Iterator[tuple[Event, int, NDArray[np.float64]]]:
    """Normalised log-probs of choices, call by call."""
    for event in audit.of("sample", "logp"):
        params, orders = event.arrays.get("params"), event.arrays.get("orders")
        if event.get("params") not in (["logits"], ["probs"]) or params is None or params.ndim != 2:
            continue
        if params.shape[1] < 2:
            continue
        if event.get("params") == ["probs"]:
            if not (params > 0).all() or np.abs(params.sum(axis=1) - 1).max() > 1e-4:
                continue
            params = np.log(params.astype(np.float64))
        if orders is None or len(orders) != len(params):
            yield event, event.order, params.astype(np.float64)
            continue
        for order in np.unique(orders)[:256]:
            yield event, int(order), params[orders == order].astype(np.float64)


def _before(audit: Audit, order: int, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """The last output of that shape before it."""
    best: tuple[int, NDArray[np.float64]] | None = None
    for event in audit.calls:
        output, orders = event.arrays.get("output0"), event.arrays.get("orders")
        if output is None or output.ndim != 2 or output.shape[1] != shape[1] or shape[1] > 63:
            continue
        if orders is None or len(orders) != len(output):
            orders = np.full(len(output), event.order)
        earlier = orders[orders < order]
        if len(earlier) and (best is None or int(earlier.max()) > best[0]):
            rows = output[orders == earlier.max()]
            if rows.shape == shape and np.isfinite(rows).all():
                best = int(earlier.max()), rows.astype(np.float64)
    return None if best is None else best[1]
