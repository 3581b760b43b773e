"""Updates do not change what the policy says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class UpdatesMoveNothing(Rule):
    """Updates do not change what the policy says.

    ## What it checks
    The same answers are scored before and after updates, in evaluation mode: nothing changes, although the loss has a
    gradient.

    ## Why it matters
    Nothing is learned, while every curve goes on.

    ## Likely causes
    1. The learning rate is 0, or so small that it is lost: weights in bfloat16 do not feel 1e-6. Confirm: compare a
       weight before and after.
    2. The optimizer has other weights than the policy: made before the model was wrapped, or of the reference.
       Confirm: compare their ids.
    3. All weights are frozen but some that the answers do not depend on. Confirm: list what requires a gradient.

    ## What to try first
    Compare `next(model.parameters())` before and after an update.

    ## When it is fine
    The first updates of a warm-up that starts at 0.

    ## References
    TRL, `cast_lm_head_to_fp32`; PyTorch, torch.optim.
    """

    code: ClassVar[str] = "OPT511"
    name: ClassVar[str] = "updates-move-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    times: int = 3  # measured, all without any change

    def check(self, evidence: Generations) -> Iterator[Finding]:
        moved = [
            float(each.facts["moved"])
            for each in evidence.rounds
            if isinstance(each.facts.get("moved"), (int, float)) and int(each.facts.get("moved_updates", 0)) > 0
        ]
        if len(moved) < self.times:
            raise NotEnough(f"{len(moved)} updates were measured, needs {self.times}")
        force = evidence.passed("force")
        if max(moved) > 1e-12 or not (force > 0).any():
            return
        yield self.finding(
            "updates do not change what the policy says",
            seen=f"the same log-probs, to the last digit, before and after {len(moved)} updates that had a gradient",
            expected="log-probs that move",
            help=f"look at the learning rate ({evidence.settings.get('learning_rate', 'not known')}), and "
            "whose weights the optimizer has",
            confidence=0.9,
        )
