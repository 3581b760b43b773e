"""A reset does not forget the episodes before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetLeaksState(Rule):
    """A reset does not forget the episodes before it.

    ## What it checks
    A fresh instance and one that has been played are reset with the same seed and given the same actions. They must go
    the same way. Wrappers are looked at one by one: running statistics of a normaliser are meant to stay.

    ## Why it matters
    Episodes depend on those before them: they cannot be repeated, an evaluation depends on what was evaluated before,
    and the first frames of an episode show the last.

    ## Likely causes
    1. An attribute is set in `__init__` and not in `reset()`: a counter, a position, an inventory, a wind. Confirm:
       compare `vars(env.unwrapped)` after `reset(seed=0)` in a fresh and in a used instance.
    2. A wrapper keeps frames or the last action over the reset. Confirm: reset the environment below it twice with one
       seed: it does not differ.
    3. The simulator is not set back, only some of its variables. Confirm: compare its full state after two resets with
       one seed.

    ## What to try first
    Set every attribute that `step()` changes in `reset()` too.

    ## When it is fine
    A curriculum, where later episodes are harder on purpose; running statistics. What a physics engine keeps (a warm
    start, the order of contacts) shows late and slightly, or grows out of rounding: that is a note.

    ## References
    Gymnasium pull request 979 (the wind and the world of LunarLander).
    """

    code: ClassVar[str] = "ENV019"
    name: ClassVar[str] = "reset-leaks-state"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("SEE002", "SEE003", "SEE004", "ENV018")

    stays: float = 0.8  # of the steps: a difference that is still there, as that of running statistics

    late: int = 20  # steps that are equal before a slight difference
    slight: float = 0.05  # of the number: the leftovers of a physics engine, not of the task

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if evidence.seeding is None:
            raise NotEnough("it could not be played twice")
        apart = evidence.seeding.played
        if apart is None:
            return
        roles = {role for layer in evidence.layers if layer.name == apart.layer for role in layer.roles}
        if apart.in_wrapper and roles & {"normalises observations", "normalises rewards"}:
            return
        stays = apart.last >= self.stays * apart.of
        statistics = apart.in_wrapper and not apart.dynamics and stays  # of the observation: a normaliser by hand
        # Contacts that a physics engine meets in another order: equal for long, then apart by little, then by more.
        engine = apart.step >= self.late and apart.part.startswith("obs") and apart.slight < self.slight
        mild = statistics or apart.rounding or engine
        who = apart.layer or evidence.name
        where = next((layer.where for layer in evidence.layers if layer.name == apart.layer), evidence.where)
        yield self.finding(
            f"reset() of {who} does not forget the episodes before it",
            where=where,
            seen=f"{apart.part} at step {apart.step} after reset(seed=…) is {apart.one} in a fresh instance and "
            f"{apart.other} in one that was played",
            expected="the same episode from the same seed" + (", to the last digit" if apart.rounding else ""),
            help="set every attribute that step() changes in reset() too",
            confidence=0.5 if mild else 0.85,
            severity="note" if mild else "warning",
        )
