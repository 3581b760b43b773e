"""The actor's loss takes the larger of two critics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.discrete_actor import weighed
from rldebug.forensics.passes import ActorPass, actor_passes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorTrustsLargerCritic(Rule):
    """The actor's loss takes the larger of two critics.

    ## What it checks
    The actor learns through one of two critics in each row, now through this one, now through the other: a minimum or a
    maximum of both. Here it is the one that promises more, in nearly every row where they differ. Exact.

    ## Why it matters
    The actor is drawn to actions that one of the critics overrates. The second critic is there to prevent that.

    ## Likely causes
    1. `max` is written where `min` belongs. Confirm: read the line of the actor's loss.

    ## What to try first
    `torch.min(q1, q2)` in the actor's loss.

    ## When it is fine
    Optimism on purpose; then ignore this rule.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "POL371"
    name: ClassVar[str] = "actor-trusts-larger-critic"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    rows: int = 64  # in which one of two was chosen
    passes: int = 4  # backward passes that must be there
    share: float = 0.97  # of them that show it

    def check(self, evidence: Script) -> Iterator[Finding]:
        discrete = [each for each in weighed(evidence) if each.critics.startswith(("min", "max", "mean", "value"))]
        if len(discrete) >= self.passes:
            if all(each.critics.startswith("max") for each in discrete):
                yield self.finding(
                    "the actor learns from the larger of two critics",
                    where=Where(update=discrete[0].update),
                    seen=f"{discrete[0].critics} in {len(discrete)} backward passes",
                    expected="the smaller one",
                    help="take the minimum of the two critics in the actor's loss",
                    confidence=0.93,
                )
            return
        found = actor_passes(evidence)
        told = [_chosen(each) for each in found]
        count, larger, first = (sum(each[place] for each in told) for place in range(3))
        if count < self.rows or len(found) < self.passes:
            raise NotEnough(f"{count} rows in which an actor learns through one of two critics, needs {self.rows}")
        if not 0.03 < first / count < 0.97:
            return  # always the same one
        if larger >= self.share * count:
            loss = next((each.loss for each in found if each.loss is not None), None)
            yield self.finding(
                "the actor learns from the larger of two critics",
                where=loss.where if loss is not None else Where(update=found[0].audit.update),
                seen=f"the larger one in {larger} of {count} rows",
                expected="the smaller one",
                help="take the minimum of the two critics in the actor's loss",
                confidence=0.95,
            )


def _chosen(each: ActorPass) -> tuple[int, int, int]:
    """Rows in which one of two critics is pushed alone, those in which it is the larger, and the first."""
    values = [column for push in each.critics for column in push.output.values.T]
    pushed = [column for push in each.critics for column in push.gradient.T]
    if len(values) != 2 or len(values[0]) != len(values[1]):
        return 0, 0, 0
    one, two = pushed[0] != 0, pushed[1] != 0
    apart = np.abs(values[0] - values[1]) > 1e-6 * (1 + np.abs(values[0]))
    keep = (one ^ two) & apart
    if keep.sum() < 0.9 * apart.sum():
        return 0, 0, 0
    larger = np.where(one, values[0] > values[1], values[1] > values[0])
    return int(keep.sum()), int((larger & keep).sum()), int((one & keep).sum())
