"""The policy is evaluated in training mode, with dropout or batch statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, owned
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule

_BY_MODE = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm", "LazyBatchNorm")


@dataclass(frozen=True, kw_only=True)
class EvaluatedInTrainingMode(Rule):
    """The policy is evaluated in training mode.

    ## What it checks
    Calls of a trained network to act in an environment that is never learned from: it is in training mode, and has
    layers of torch that work differently there: dropout or batch normalisation.

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

    steps: int = 10  # of the evaluation
    share: float = 0.9  # of them in training mode

    def check(self, evidence: Script) -> Iterator[Finding]:
        calls = [each for each in evaluation_calls(evidence) if owned(evidence, each.module)]
        if len(calls) < self.steps:
            raise NotEnough(f"a trained network was seen to act in {len(calls)} steps of an evaluation")
        by_module: Counter[str] = Counter(each.module for each in calls)
        for module, count in by_module.items():
            kinds = sorted(kind for kind in evidence.modules[module].get("layers") or {} if _by_mode(kind))
            wrong: list[Call] = [each for each in calls if each.module == module and each.event["training"]]
            if count < self.steps or not kinds or len(wrong) < self.share * count:
                continue
            yield self.finding(
                "the policy is evaluated in training mode",
                where=wrong[0].event.where,
                seen=f"{module} has layers of {' and '.join(kinds)}, and is in training mode in {len(wrong)} of "
                f"{count} steps of the evaluation",
                expected="evaluation mode: no dropout, and the statistics of training",
                help=f"call {module}.eval() before the evaluation and {module}.train() after it",
                confidence=0.9,
            )
            return


def _by_mode(kind: str) -> bool:
    return kind.rstrip("123d") in _BY_MODE
