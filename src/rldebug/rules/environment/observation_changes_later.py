"""An observation changes after it was handed out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationChangesLater(Rule):
    """An observation changes after it was handed out.

    ## What it checks
    Each observation is kept together with a copy; after the next step the two are compared.

    ## Why it matters
    Whoever keeps the observation until the next step finds the next one in its place: `obs` and `next_obs` of a
    transition are equal, and a rollout holds one row many times.

    ## Likely causes
    1. `step()` changes its state array in place, and returns it. Confirm: `env.step(a)[0] is env.step(a)[0]` is true.
    2. The observation is a view: a slice or a reshape of the state. Confirm: `np.shares_memory(obs,
       env.unwrapped.state)`, with the name of the array.
    3. A wrapper reuses one buffer. Confirm: ask the same of the environment below it.

    ## What to try first
    Return `obs.copy()`.

    ## When it is fine
    A training loop that copies every observation at once. Vector environments do, and loops without them seldom.

    ## References
    Gymnasium, `env_checker.check_env`.
    """

    code: ClassVar[str] = "ENV017"
    name: ClassVar[str] = "observation-changes-later"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        misfit = evidence.aliased
        if misfit is None:
            return
        yield self.finding(
            "an observation changes after it was handed out",
            where=evidence.where,
            seen=f"{misfit.seen}; {misfit.times} of {misfit.of} observations",
            expected="an observation that stays as it was",
            help="return a copy of the state: obs.copy()",
            confidence=0.97,
        )
