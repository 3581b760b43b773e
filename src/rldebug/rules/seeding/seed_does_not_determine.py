"""The same seed and actions lead to different episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SeedDoesNotDetermine(Rule):
    """The same seed and actions lead to different episodes.

    ## What it checks
    Two fresh instances are reset with the same seed and given the same actions; the global generators of Python, NumPy
    and torch are set to the same state before each.

    ## Why it matters
    No run can be repeated, so no bug can be hunted: two trainings that differ in one line differ in everything.

    ## Likely causes
    1. A generator of its own is made without the seed: `np.random.default_rng()` in `__init__`. Confirm: search for
       `default_rng` and `Random(`.
    2. A wrapper draws from an unseeded generator. Confirm: ask the same of the environment below it.
    3. Time or the order of a set decides. Confirm: search for `time`, `set(` and `hash`; run twice with
       `PYTHONHASHSEED=0`.

    ## What to try first
    Draw everything from `self.np_random`, and call `super().reset(seed=seed)` first.

    ## When it is fine
    Hardware, a server, several threads. Register it with `nondeterministic=True`; then this is a note.

    ## References
    spinningup pull request 310.
    """

    code: ClassVar[str] = "SEE002"
    name: ClassVar[str] = "seed-does-not-determine"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None:
            raise NotEnough("it could not be played twice")
        apart = seeding.same_seed
        if apart is None:
            return
        mild = seeding.nondeterministic or apart.rounding
        yield self.finding(
            "the same seed and actions lead to different episodes",
            where=evidence.where,
            seen=f"{apart.part} at step {apart.step} is {apart.one} in one instance and {apart.other} in another",
            expected="the same, number by number" + (", to the last digit" if apart.rounding else ""),
            help="call super().reset(seed=seed) and draw everything from self.np_random",
            confidence=0.5 if mild else 0.97,
            severity="note" if mild else "error",
        )
