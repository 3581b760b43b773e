"""The reference says what the policy says, after updates too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations, mean
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReferenceKeepsUpWithPolicy(Rule):
    """The reference says what the policy says, after updates too.

    ## What it checks
    The distance of policy and reference over the answers of first passes, once the policy has moved.

    ## Why it matters
    The divergence from the reference is always nil: it costs a forward pass and holds nothing back.

    ## Likely causes
    1. The reference is the policy itself, or shares its weights: `ref_model = model`. Confirm: compare `data_ptr()`.
    2. The reference is brought up to date after every update: `sync_ref_model` with one step and no mixing. Confirm:
       look at the settings.
    3. An adapter is not switched off for the reference. Confirm: compare the log-probs with those of the base model.

    ## What to try first
    Make the reference from the first weights, and leave it alone.

    ## When it is fine
    Where no divergence is wanted: `beta=0` saves the reference.

    ## References
    TRL, `sync_ref_model`.
    """

    code: ClassVar[str] = "POL518"
    name: ClassVar[str] = "reference-keeps-up-with-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("OPT511",)
    explains: ClassVar[tuple[str, ...]] = ("TGT302",)

    apart: float = 1e-6  # nats a token, that is as good as nothing
    updates: int = 2  # from which on they must differ
    moved: float = 1e-6  # by which the policy has moved, at least

    def check(self, evidence: Generations) -> Iterator[Finding]:
        late = [each for each in evidence.passes if each.age == 0 and each.update >= self.updates]
        told = [mean(each.column("reference")) for each in late]
        told = [each for each in told if np.isfinite(each)]
        moved = [float(each.facts["moved"]) for each in evidence.rounds if each.facts.get("moved") is not None]
        shared = int(evidence.settings.get("shared") or 0)
        if len(told) < self.updates:
            raise NotEnough(f"the reference in {len(told)} passes after updates, needs {self.updates}")
        if max(told) > self.apart or (moved and max(moved) < self.moved):
            return
        yield self.finding(
            "the reference says what the policy says, after updates too",
            seen=f"no difference in {len(told)} passes, up to update {late[-1].update}"
            + (f"; {shared} of its tensors are the policy's own" if shared else ""),
            expected="a reference that stays behind",
            help="make the reference a copy of the first weights, and do not bring it up to date at every step",
            confidence=0.95,
        )
