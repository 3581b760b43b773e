"""Observations have another form than the declared space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationNotInSpace(Rule):
    """Observations have another form than the declared space.

    ## What it checks
    Structure, shape and kind of number of every observation, after resets, in mid-episode and at ends, beside
    `observation_space`. Integers in a space of floats and other precisions are fine; floats in a space of integers are
    not.

    ## Why it matters
    Networks and buffers are built from the declared space. What does not fit raises late, or is broadcast, flattened or
    rounded into it: a float image of 0 to 1 becomes all zeros in a buffer of bytes.

    ## Likely causes
    1. The space was written down by hand and not changed with the observation. Confirm: print `env.observation_space`
       and the shape and dtype of an observation.
    2. `reset()` and `step()` build the observation in two places. Confirm: compare their shapes and dtypes.
    3. The last observation of an episode is built in a third place, or is None. Confirm: print the observation that
       comes with `terminated`.

    ## What to try first
    Build the observation in one function, and the space from the same numbers.

    ## When it is fine
    A plain list where an array is declared is understood by many programs, and is a warning here.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ENV013"
    name: ClassVar[str] = "observation-not-in-space"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("PRE004",)

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for misfit in sorted(evidence.misfits, key=lambda each: each.lenient)[:1]:
            yield self.finding(
                f"{misfit.part} is not of its declared space",
                where=evidence.where,
                seen=f"{misfit.seen} after {misfit.call}, in {misfit.times} of {misfit.of} observations",
                expected=f"{misfit.expected}, as in {evidence.observation_space}",
                help="make observation_space and the observation agree; build both from the same numbers",
                confidence=0.97,
                severity="warning" if misfit.lenient else "error",
            )
