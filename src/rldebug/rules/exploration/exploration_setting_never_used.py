"""A setting of the exploration is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.options import Unread, unread
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule

_SHORT = frozenset({"eps", "epsilon"})  # also a clipping range, or an optimizer's epsilon


@dataclass(frozen=True, kw_only=True)
class ExplorationSettingNeverUsed(Rule):
    """A setting of the exploration is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. A setting whose name means the ε of ε-greedy exploration, its end or
    its schedule (an option, a field of a config, a constant, a parameter of a function) is used in no line: it is at
    most handed on under the same name, or printed. Where settings are read by names that are made up at run time,
    nothing is said.

    ## Why it matters
    Exploration is not what is set: it never ends, never begins, or never changes.

    ## Likely causes
    1. The schedule is computed and not used. Confirm: print ε beside the step, and look who reads it.
    2. The action is chosen without it. Confirm: look for the random branch in the function that acts.

    ## What to try first
    Follow ε from where it is set to the line that draws the action.

    ## When it is fine
    Where exploration was replaced by other means (noisy layers, a softmax) and the setting was left behind.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning* (ε-greedy with a schedule).
    """

    code: ClassVar[str] = "EXP390"
    name: ClassVar[str] = "exploration-setting-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        # Not the first value: a program that begins with 1.0 written out is fine. Its end and its speed are forgotten.
        found = [
            each
            for each in unread(evidence, "epsilon_end", "epsilon_steps", "epsilon_fraction", also=_SHORT)
            if each.value != 0 and (each.name.lower() not in _SHORT or _chooses(each, evidence))
        ]
        if found:
            first = found[0]
            yield self.finding(
                "a setting of the exploration is used nowhere",
                where=first.place,
                seen=first.seen,
                expected="the setting in the line that draws the action, or in the schedule",
                help=f"follow {first.name} to the line that draws the action",
                confidence=0.7,
            )


def _chooses(setting: Unread, script: Script) -> bool:
    """Whether an ε is that of ε-greedy: of a function, in Q-learning, and no tiny number against a division by 0."""
    large = setting.value is None or setting.value >= 1e-3
    return setting.where == "parameter" and large and roles_of(script).family == "q-learning"
