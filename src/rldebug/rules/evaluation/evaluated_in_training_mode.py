"""The policy is evaluated in training mode, with dropout, batch statistics or noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of, owned, recurrent
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule

_BY_MODE = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm", "LazyBatchNorm")


@dataclass(frozen=True, kw_only=True)
class EvaluatedInTrainingMode(Rule):
    """The policy is evaluated in training mode.

    ## What it checks
    Calls of a trained network to act in an environment that is never learned from: it is in training mode, and has
    layers of torch that work differently there: dropout or batch normalisation. Or, where it gives the values of
    actions, it gives others for the same input and the same weights: layers with noise of their own.

    ## Why it matters
    With dropout another, crippled network plays at each step. Batch normalisation takes its statistics from the
    observation at hand, and moves those of training with every step of the evaluation.

    ## Likely causes
    1. `policy.eval()` is missing before the evaluation. Confirm: print `policy.training` there.
    2. It is called on another object, such as a wrapper that does not hand it on. Confirm: print the same.

    ## What to try first
    `policy.eval()` before the evaluation, `policy.train()` after it.

    ## When it is fine
    Dropout with a probability of zero.

    ## References
    PyTorch documentation, *Module.eval*.
    """

    code: ClassVar[str] = "EVA302"
    name: ClassVar[str] = "evaluated-in-training-mode"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("NET306", "ADV621")

    steps: int = 10  # of the evaluation
    share: float = 0.9  # of them in training mode
    twice: int = 8  # inputs that it was given again, with the same weights
    noisy: float = 0.2  # share of them for which it gave another output

    def check(self, evidence: Script) -> Iterator[Finding]:
        calls = [each for each in evaluation_calls(evidence) if owned(evidence, each.module)]
        if len(calls) < self.steps:
            raise NotEnough(f"a trained network was seen to act in {len(calls)} steps of an evaluation")
        by_module: Counter[str] = Counter(each.module for each in calls)
        for module, count in by_module.items():
            kinds = sorted(kind for kind in evidence.modules[module].get("layers") or {} if _by_mode(kind))
            wrong: list[Call] = [each for each in calls if each.module == module and each.event["training"]]
            if count < self.steps or len(wrong) < self.share * count:
                continue
            has = f"has layers of {' and '.join(kinds)}"
            if not kinds:
                equal, other = told_twice(evidence, module)
                if not _gives_values(evidence, module) or equal < self.twice or other < self.noisy * equal:
                    continue
                has = f"gives other values for the same input and weights in {other} of {equal} cases"
            yield self.finding(
                "the policy is evaluated in training mode",
                where=wrong[0].event.where,
                seen=f"{module} {has}, and is in training mode in {len(wrong)} of {count} steps of the evaluation",
                expected="evaluation mode: no dropout, no noise, and the statistics of training",
                help=f"call {module}.eval() before the evaluation and {module}.train() after it",
                confidence=0.9,
            )
            return


def _by_mode(kind: str) -> bool:
    return kind.rstrip("123d") in _BY_MODE


def _gives_values(script: Script, module: str) -> bool:
    """A network whose output is drawn, as that of a policy may be, gives another one each time, and rightly so."""
    roles = roles_of(script)
    if module in roles.policy or any(True for _ in script.events("sample", "logp")):
        return False  # it may draw within, and there may be a target policy that follows it
    return module in roles.q or (bool(roles.targets) and module in dict(roles.targets).values())


def told_twice(script: Script, module: str) -> tuple[int, int]:
    """Inputs that it was given again in training mode with the same weights; and how often the output was another."""
    if recurrent(script, module):
        return 0, 0
    equal = other = 0
    before: dict[tuple[int, int, bytes], tuple[int, NDArray[np.float64]]] = {}
    for call in calls_of(script):
        event = call.event
        output, orders = event.arrays.get("output0"), event.arrays.get("orders")
        if call.module != module or not event["training"] or call.input is None or output is None or output.ndim != 2:
            continue
        mine = output if orders is None or len(orders) != len(output) else output[orders == call.order]
        if len(mine) != len(call.input) or len(event.get("inputs") or (0,)) != 1:
            continue
        for given, said in zip(call.input, np.asarray(mine, dtype=np.float64), strict=True):
            order, last = before.setdefault((call.audit.number, call.update, given.tobytes()), (call.order, said))
            if order != call.order:  # in one batch the noise is the same
                equal += 1
                other += bool(np.abs(last - said).max() > 1e-3 * (np.abs(said).max() + 1e-6))
    return equal, other
