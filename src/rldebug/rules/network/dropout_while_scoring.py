"""Dropout is on while answers are scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DropoutWhileScoring(Rule):
    """Dropout is on while answers are scored.

    ## What it checks
    The same answers with the same weights are scored in the mode in which the network is trained, and in evaluation
    mode: they must have the same log-probs. Without a graph, and with generators put back.

    ## Why it matters
    Sampler, old policy and new policy are three different networks then. Ratios start away from 1, clipping cuts at
    random, and the divergence from the reference is never nil.

    ## Likely causes
    1. The model has dropout and is trained in training mode. Confirm: `[m for m in model.modules() if isinstance(m,
       torch.nn.Dropout)]`.
    2. A model that was made for fine-tuning, with `attention_dropout` in its configuration. Confirm: print the
       configuration.

    ## What to try first
    `disable_dropout=True` in the trainer's settings, or dropout 0 in the model's configuration.

    ## When it is fine
    Never with ratios; it makes no difference without.

    ## References
    TRL, `disable_dropout`.
    """

    code: ClassVar[str] = "NET510"
    name: ClassVar[str] = "dropout-while-scoring"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"

    off: float = 0.01  # nats a token, mean size of the difference
    rounds: int = 2  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        noise = [float(each.facts["noise"]) for each in evidence.rounds if each.facts.get("noise") is not None]
        if len(noise) < self.rounds:
            raise NotEnough(f"answers were scored in both modes in {len(noise)} rounds, needs {self.rounds}")
        if float(np.mean(noise)) < self.off:
            return
        yield self.finding(
            "dropout is on while answers are scored",
            seen=f"log-probs differ by {np.mean(noise):.2g} nats a token between training and evaluation mode, in "
            f"{len(noise)} rounds",
            expected="the same log-probs in both",
            help="disable_dropout=True, or dropout 0 in the configuration of the model",
            confidence=0.95,
        )
