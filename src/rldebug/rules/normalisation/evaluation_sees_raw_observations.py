"""The evaluation sees raw observations, training scaled ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.evaluated_inputs import given
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationSeesRawObservations(Rule):
    """The evaluation sees raw observations, training scaled ones.

    ## What it checks
    While it acts for training, the network is given observations that were scaled and shifted, element by element.
    In the evaluation the same network, or one made like it, is given them exactly as they come.

    ## Why it matters
    The policy is judged on inputs that it was never trained on. Its score says nothing about what was learned.

    ## Likely causes
    1. The normaliser is not applied in the evaluation, or a new and empty one is. Confirm: print the input of the
       network in both.
    2. Its statistics are not in the checkpoint that is evaluated. Confirm: look at the keys of the file.

    ## What to try first
    Save the statistics with the weights, and apply them in the evaluation without updating them.

    ## When it is fine
    A network that scales its own input is given raw observations in both.

    ## References
    Bug kinds EVA-10 and CKP-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM361"
    name: ClassVar[str] = "evaluation-sees-raw-observations"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"
    follows: ClassVar[tuple[str, ...]] = (
        "NRM303",
        "NRM304",
    )

    rows: int = 40  # of each
    raw: float = 0.98  # share of the rows of the evaluation that are as they were observed
    changed: float = 0.05  # share of those of training that may be

    def check(self, evidence: Script) -> Iterator[Finding]:
        trained, played = given(evidence)
        trained = [each for each in trained if len(each.obs) >= self.rows]
        played = [each for each in played if len(each.obs) >= self.rows]
        if not trained or not played:
            raise NotEnough("no network was seen acting both in training and in an evaluation")
        for test in played:
            alike = [
                each
                for each in trained
                if each.inputs.shape[1] == test.inputs.shape[1]
                and _kind(evidence, each.module) == _kind(evidence, test.module)
            ]
            if not alike or test.raw < self.raw:
                continue
            if all(each.raw <= self.changed and each.mapped for each in alike):
                yield self.finding(
                    "the evaluation gives the network raw observations, and training gives it scaled ones",
                    where=test.event.where,
                    seen=f"{test.raw:.0%} of {len(test.obs)} observations of the evaluation enter as they come, and "
                    f"{alike[0].raw:.0%} of {len(alike[0].obs)} in training",
                    expected="the same scaling in both, with the statistics of training",
                    help="save the statistics with the weights, and apply them in the evaluation",
                    confidence=0.94,
                )
                return


def _kind(script: Script, module: str) -> str:
    """Its class; of one that is gone, what it was called. The second of a name has a number behind it."""
    name, _, number = module.rpartition("-")
    stem = name if number.isdigit() and name else module
    return str(script.modules.get(module, script.modules.get(stem, {})).get("class") or stem)
