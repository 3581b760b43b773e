"""Evaluation gives the network inputs far outside of those it was trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.populations import populations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationInputDiffers(Rule):
    """Evaluation gives the network inputs of another scale.

    ## What it checks
    The inputs that networks are given to act in the environment that is learned from, and in those that are only
    played. In half of the elements or more the ranges differ by a large factor, or do not meet at all.

    ## Why it matters
    The policy is judged on inputs it does not know: the score says nothing about what was learned.

    ## Likely causes
    1. The environment of the evaluation is not wrapped in the normaliser. Confirm: print an observation of both.
    2. Its normaliser has statistics of its own, which start empty. Confirm: print them.
    3. The statistics were not saved with the policy. Confirm: look at the keys of the checkpoint.

    ## What to try first
    Copy the statistics into the environment of the evaluation, and stop updating them there.

    ## When it is fine
    Where another environment is meant to be harder; its observations then lie elsewhere, but not by such a factor.

    ## References
    Seen in the wild: NRM-07, NRM-08, ACT-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM301"
    name: ClassVar[str] = "evaluation-input-differs"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("NRM300", "NRM302", "NRM303", "NRM304")

    rows: int = 32  # of each use
    wider: float = 8.0  # range of the evaluation over that of training
    factor: float = 4.0  # enough where evaluation sees raw observations, and training none
    narrower: float = 50.0  # the other way: a good policy keeps to a small part of the states
    share: float = 0.5  # of the elements must be so far apart

    def check(self, evidence: Script) -> Iterator[Finding]:
        mine = [
            each for each in populations(evidence) if not each.wide and len(each.rows) >= self.rows and not each.whole
        ]
        tests = [each for each in mine if each.use == "evaluation"]
        trained = [each for each in mine if each.use == "acting"]
        if not tests or not trained:
            raise NotEnough("no network was seen acting both in training and in evaluation")
        kinds = {name: str(each.get("class")) for name, each in evidence.modules.items()}
        for test in tests:
            known = [
                each
                for each in trained
                if each.shape == test.shape
                and (each.module == test.module or kinds.get(each.module) == kinds.get(test.module))
            ]
            if not known:
                continue
            low = np.min([each.low for each in known], axis=0)
            high = np.max([each.high for each in known], axis=0)
            here, there = high - low, test.range
            moves = (here > 1e-9) & (there > 1e-9)
            away = np.abs((test.low + test.high) / 2 - (low + high) / 2) > self.wider * (here + there) / 2 + 1e-6
            apart = moves & ((there > self.wider * here) | (here > self.narrower * there) | away)
            enough = max(min(2, len(apart)), self.share * len(apart))
            if test.raw > 0.95 and all(each.raw < 0.05 for each in known):
                # Changed observations in training, observations as they came in evaluation: one element will do.
                enough = 1
                apart |= moves & ((there > self.factor * here) | (here > self.narrower * there))
            if apart.sum() >= enough:
                worst = int(np.where(apart, there / np.maximum(here, 1e-12), 0).argmax())
                yield self.finding(
                    "evaluation gives the network inputs of another scale than training",
                    where=test.first.where,
                    seen=f"element {worst} of the input lies in {low[worst]:.3g} … {high[worst]:.3g} in training, in "
                    f"{test.low[worst]:.3g} … {test.high[worst]:.3g} in evaluation; {int(apart.sum())} of "
                    f"{len(apart)} elements differ so",
                    expected="inputs normalised with the statistics of training",
                    help="give the environment of the evaluation the normaliser of training, and do not update it "
                    "there",
                    confidence=0.9,
                )
                return
