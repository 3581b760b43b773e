"""What `step()` gives is unpacked into a wrong number of parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.made_envs import convention
from rldebug.syntax.names import method
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class StepHasOtherParts(Rule):
    """What `step()` gives is unpacked into a wrong number of parts.

    ## What it checks
    Four names for `step()` of an environment of Gymnasium, which gives five; five for one of a vector environment
    of Stable-Baselines3, which gives four. How it was made is read from the source.

    ## Why it matters
    The program stops at the first step: too many values to unpack, or not enough.

    ## Likely causes
    1. The program was written for the old Gym. Confirm: look at what `step()` returns.
    2. A vector environment of Stable-Baselines3 took the place of a plain one. Confirm: the same.

    ## What to try first
    `obs, reward, terminated, truncated, info = env.step(action)` with Gymnasium; `obs, rewards, dones, infos =
    venv.step(actions)` with Stable-Baselines3.

    ## When it is fine
    Nothing that is known of.

    ## References
    Gymnasium, *Migration guide: v0.21 to v1.0*.
    """

    code: ClassVar[str] = "ENV604"
    name: ClassVar[str] = "step-has-other-parts"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV401",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            form = convention(evidence, step.env)
            right = {"gymnasium": 5, "sb3": 4}.get(form)
            if right is not None and right != len(step.parts) and method(step.call) == "step":
                env = evidence.quoted(step.env)
                names = "obs, reward, terminated, truncated, info" if right == 5 else "obs, rewards, dones, infos"
                yield self.finding(
                    f"{env}.step() gives {right} parts, and {len(step.parts)} names take them",
                    where=evidence.at(step.statement),
                    seen=evidence.quoted(step.statement),
                    expected=f"{names} = {env}.step(…)",
                    help=f"{names} = {evidence.quoted(step.call)}",
                    confidence=0.97,
                )
