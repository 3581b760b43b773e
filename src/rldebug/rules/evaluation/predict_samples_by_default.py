"""A trained model is scored with sampled actions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, method, receiver
from rldebug.syntax.places import loops_of
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class PredictSamplesByDefault(Rule):
    """A trained model is scored with sampled actions.

    ## What it checks
    `model.predict(obs)` of Stable-Baselines3 in a loop that steps an environment, without `deterministic=`. Read
    from the source.

    ## Why it matters
    `predict` samples by default, `evaluate_policy` does not. Scores of an own loop are then lower, and differ from
    those that the callback printed.

    ## Likely causes
    1. The default was not known. Confirm: compare with `evaluate_policy`.

    ## What to try first
    `model.predict(obs, deterministic=True)`.

    ## When it is fine
    Where the stochastic policy is what should be scored.

    ## References
    EVA-02 of bench/bugs. Stable-Baselines3, *Evaluation helper*.
    """

    code: ClassVar[str] = "EVA604"
    name: ClassVar[str] = "predict-samples-by-default"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            for call in computed_from(evidence, step.action) if step.action is not None else ():
                if not (isinstance(call, ast.Call) and method(call) == "predict"):
                    continue
                model = receiver(call)
                given = argument(call, 3, "deterministic")
                starred = any(each.arg is None for each in call.keywords)
                if given is None and not starred and kind(evidence, model) == "agent" and loops_of(evidence, call):
                    yield self.finding(
                        f"{evidence.quoted(call)} samples its actions",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)} without deterministic=",
                        expected="deterministic=True for a score, as evaluate_policy does",
                        help="deterministic=True as a further argument",
                        confidence=0.7,
                    )
