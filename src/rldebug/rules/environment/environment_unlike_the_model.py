"""A model is used with an environment it was not made for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentUnlikeTheModel(Rule):
    """A model is used with an environment it was not made for.

    ## What it checks
    A library refused an environment because its spaces or its number differ from those that the model was made with.

    ## Why it matters
    A model is made for one observation space, one action space, and sometimes one number of environments.

    ## Likely causes
    1. Another environment, or other wrappers, than in training. Confirm: print both spaces.
    2. Another number of environments. Confirm: print `num_envs` of both.

    ## What to try first
    Make every environment, for training and evaluation, with one function.

    ## When it is fine
    Never: the program has ended.

    ## References
    Stable-Baselines3, `set_env`.
    """

    code: ClassVar[str] = "ENV406"
    name: ClassVar[str] = "environment-unlike-the-model"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "number of environments to be set is different",
            "(Observation|Action) spaces do not match",
            "observation spaces? (is|are|do) not(?! equivalent)",
            "Unexpected observation shape",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        both = re.search(r"(Observation|Action) spaces do not match: (.+?\)) != (.+)", evidence.message)
        told = f": the model has {both[2]}, the environment {both[3]}" if both else ""
        yield self.finding(
            f"a model was given an environment that it was not made for{told}",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an environment with the spaces and the number of the one it was made with",
            help="make every environment, for training, evaluation and play, with one function: the same wrappers "
            "(frame stack, grey, VecTransposeImage, flattening) in the same order, and the same number of them",
            confidence=0.85,
        )
