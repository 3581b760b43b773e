"""What only the other terms of a loss can tell: an entropy from a divergence, a sampled entropy from a likelihood."""

from __future__ import annotations

from dataclasses import dataclass

from rldebug.capture.loss_term import Term

_PARTS = ("scaled-square", "parameter", "log-scale")


@dataclass(frozen=True)
class Trace:
    """A term, and what it was read from. Lives as long as the walk."""

    term: Term
    mixed: int  # the same number: added to each other row by row
    picks: frozenset[int]  # which actions a log-prob is of
    heads: frozenset[int]  # of a Gaussian, the layer that its mean comes from; of a regression, that of the prediction


def tell_apart(traces: list[Trace]) -> None:
    policies = [each for each in traces if each.term.kind == "policy"]
    means = frozenset[int]().union(*(each.heads for each in policies))
    for number in {each.mixed for each in traces} - {0}:
        _divergence([each for each in traces if each.mixed == number], means)
    for each in traces:
        term = each.term
        if term.kind == "classification" or term.op == "gaussian-nll":
            term.coefficient, term.scale = -term.coefficient, -term.scale  # of a likelihood, the loss is −log p
        if "weight" in term.arrays:
            continue
        if term.op in ("cross-entropy", "gaussian-nll") and any(each.picks & one.picks for one in policies):
            term.kind, term.op = "entropy", "sampled"  # −log p of the very actions that are trained on
        elif term.op == "gaussian-nll" and each.heads & means:
            term.kind, term.op = "other", "divergence"  # of other means than the actions: those of an older policy
        elif term.op == "log-scale" and any(term.parameters <= one.term.parameters for one in policies):
            term.kind = "entropy"  # of a Gaussian: the log of its scale, and a constant


def _divergence(parts: list[Trace], means: frozenset[int]) -> None:
    """Between Gaussians, added up row by row: a distance of means, a ratio of scales, the log of one.

    Its log of the scale stands with the other sign than an entropy does: taken for one, it would be a false alarm.
    """
    distances = [each for each in parts if each.term.op == "scaled-square" or _between_means(each, means)]
    if not distances:
        return
    for each in parts:
        if each in distances or each.term.op in _PARTS or each.term.kind == "output":
            each.term.kind, each.term.op = "other", "divergence"


def _between_means(trace: Trace, means: frozenset[int]) -> bool:
    return trace.term.kind == "regression" and bool(trace.heads & means)
