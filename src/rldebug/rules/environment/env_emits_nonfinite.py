"""The environment hands out observations that are not finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvEmitsNonfinite(Rule):
    """The environment hands out observations that are not finite.

    ## What it checks
    Every number of every observation while random actions are played. NaN is an error; infinity is a warning, since
    some sensors mean it.

    ## Why it matters
    A network maps one NaN to NaN in every output, and the update that learns from the row makes every weight NaN.
    Infinity does the same after a subtraction.

    ## Likely causes
    1. A division by something that can be 0: a distance, a spread, a volume traded. Confirm: print the divisor at the
       step named.
    2. A logarithm, root or arc cosine outside its domain. Confirm: print its argument at the step named.
    3. The data has holes. Confirm: look for NaN in the file that is read.
    4. The simulation diverges: a time step too large, a force without limit. Confirm: print the state in the steps
       before.

    ## What to try first
    Put `assert np.isfinite(obs).all()` where the observation is built, and look at what it is computed from.

    ## When it is fine
    Infinity for a sensor without an echo, where the network clips its input.

    ## References
    Stable-Baselines3, `VecCheckNan`.
    """

    code: ClassVar[str] = "ENV015"
    name: ClassVar[str] = "env-emits-nonfinite"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for misfit in sorted(evidence.nonfinite, key=lambda each: each.seen != "NaN")[:1]:
            nan = misfit.seen == "NaN"
            yield self.finding(
                f"{misfit.part} is {misfit.seen}",
                where=evidence.where,
                seen=f"{misfit.seen} after {misfit.call}, first at step {misfit.step} of its episode; "
                f"{misfit.times} of {misfit.of} observations",
                expected="finite numbers",
                help="look for a division by zero where this element is computed",
                confidence=0.98 if nan else 0.7,
                severity="error" if nan else "warning",
            )
