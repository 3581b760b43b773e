"""The noise on target actions goes to one side only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_actions import asked_of
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TargetNoiseOneSided(Rule):
    """The noise on target actions goes to one side only.

    ## What it checks
    Actions that critics are asked about in next states are compared with what the policy said of the same states. They
    differ by something that the policy does not decide, and in all rows it has the same sign; rows in which a bound
    could have cut it off are left out.

    ## Why it matters
    The noise is there to smooth the value around the action of the policy. With one sign it is a step aside: targets
    are the values of another policy, and the actor drifts to make up for it.

    ## Likely causes
    1. `rand` where `randn` is meant. Confirm: print the smallest noise of a batch.
    2. A clamp of the noise with a bound of 0, or with two bounds of the same sign. Confirm: the same.

    ## What to try first
    `(torch.randn_like(action) * sigma).clamp(-c, c)`.

    ## When it is fine
    Never.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "TGT376"
    name: ClassVar[str] = "target-noise-one-sided"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "noise"
    follows: ClassVar[tuple[str, ...]] = ("TGT372",)

    rows: int = 256  # of targets with noise

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in asked_of(evidence) if each.policy is not None]
        if not found or len({each.audit.number for each in found}) < 2:
            raise NotEnough("no target actions were seen beside what the policy said")
        pairs = [np.stack([each.action, each.policy], axis=1) for each in found if each.policy is not None]
        # Both critics are asked about the same.
        both = np.unique(np.concatenate(pairs), axis=0)
        asked, said = both[:, 0], both[:, 1]
        noise = asked - said
        reach = np.abs(noise).max(axis=0)
        free = (said > asked.min(axis=0) + reach) & (said < asked.max(axis=0) - reach) & (np.abs(noise) > 1e-6)
        if int(free.sum()) < self.rows:
            raise NotEnough(f"{int(free.sum())} target actions away from the bounds, needs {self.rows}")
        signs = [np.sign(noise[free[:, each], each]) for each in range(noise.shape[1]) if free[:, each].any()]
        random = all(_undecided(said[:, each], noise[:, each], free[:, each]) for each in range(noise.shape[1]))
        if random and all(abs(each.mean()) == 1.0 for each in signs):
            yield self.finding(
                "the noise on target actions goes to one side only",
                where=found[0].term.where,
                seen=f"all of {int(free.sum())} numbers that were added to actions of the policy are "
                f"{'positive' if signs[0][0] > 0 else 'negative'}",
                expected="noise around 0",
                help="torch.randn_like(action), not torch.rand_like",
                confidence=0.93,
            )


def _undecided(said: Array, noise: Array, free: NDArray[np.bool_]) -> bool:
    """Whether the difference is no function of what the policy said: neighbours differ as much as any two."""
    order = np.argsort(said[free])
    several = noise[free][order]
    if len(several) < 32 or not several.std() > 1e-3 * np.abs(several).max():
        return False
    return bool(np.abs(np.diff(several)).mean() > 0.5 * several.std())
