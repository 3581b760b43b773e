"""The environment draws from a global generator, not its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DrawsFromGlobalGenerator(Rule):
    """The environment draws from a global generator, not its own.

    ## What it checks
    Fresh instances with the same seed and actions, and the global generators of Python, NumPy and torch in another
    state: the trajectory changes, and does not when they are in the same state.

    ## Why it matters
    The seed given to `reset()` does not decide the episode: it changes with whatever else draws random numbers in the
    process, and is the same in all worker processes that were forked.

    ## Likely causes
    1. `np.random.…` or `random.…` in the environment or in a wrapper. Confirm: search for it; write `self.np_random.…`.
    2. `space.sample()` of a space that was not seeded, as a goal or a start. Confirm: search for `sample()` in the
       environment.

    ## What to try first
    Replace `np.random` by `self.np_random`, and call `super().reset(seed=seed)` first.

    ## When it is fine
    Never: a generator of its own costs nothing.

    ## References
    Tianshou pull request 467 (no-op starts drawn from the global generator).
    """

    code: ClassVar[str] = "SEE003"
    name: ClassVar[str] = "draws-from-global-generator"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None or (seeding.same_seed is not None and not seeding.global_generator):
            raise NotEnough("it could not be played twice alike")
        apart = seeding.global_difference
        if apart is None:
            return
        yield self.finding(
            f"it draws from {seeding.global_generator} in spite of its seed",
            where=evidence.where,
            seen=f"{apart.part} at step {apart.step} is {apart.one}, and {apart.other} from the same seed when "
            f"{seeding.global_generator} is in another state",
            expected="an episode that the seed given to reset() decides",
            help="draw from self.np_random instead, after super().reset(seed=seed)",
            confidence=0.95,
        )
