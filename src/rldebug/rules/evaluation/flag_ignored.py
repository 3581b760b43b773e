"""A flag that says how to act is passed and ignored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule

_WAYS = (
    "greedy", "deterministic", "stochastic", "explore", "exploration", "eval", "evaluate", "evaluation",
    "testing", "train", "training", "sample", "noise", "add_noise", "noisy", "random",
)  # fmt: skip
"""Names of flags that say how actions are chosen."""


@dataclass(frozen=True, kw_only=True)
class FlagIgnored(Rule):
    """A flag that says how to act is passed and ignored.

    ## What it checks
    A function of the program has a parameter, False or True unless given, that no line of it looks at; and a call
    in the program gives it the other value. The name of the parameter says how actions are chosen: greedy,
    deterministic, explore, evaluate, training.

    ## Why it matters
    The call asks for one way of acting and gets the other: an evaluation that is meant to be greedy samples, or the
    other way round.

    ## Likely causes
    1. The branch on the flag was lost. Confirm: look for the name in the body of the function.

    ## What to try first
    Branch on the flag where the action is chosen.

    ## When it is fine
    A parameter that is kept for an interface; then nobody has reason to pass it.

    ## References
    Bug kind ACT-22 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA355"
    name: ClassVar[str] = "flag-ignored"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # goes by the names of parameters
    reads: ClassVar[str] = "Script"

    notes: int = 1  # such flags, at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("the source was not looked at, or nothing was trained")
        flags = [each for each in evidence.noted("flag") if str(each["name"]).lower() in _WAYS]
        if len(flags) < self.notes:
            return
        for note in flags:
            line = note.get("line")
            yield self.finding(
                f"`{note['function']}` ignores `{note['name']}`",
                where=Where(file=line[0], line=line[1]) if line else Where(),
                seen=f"it is {not note['default']} in the call in line {note['called'][1]}, and no line of it "
                "looks at it",
                expected="a function that acts as it is told",
                help=f"branch on `{note['name']}` where the action is chosen",
                confidence=0.85,
            )
            return
