"""An environment is seeded by a method that Gymnasium has removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.made_envs import convention
from rldebug.syntax.names import method, receiver
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class SeedMethodGone(Rule):
    """An environment is seeded by a method that Gymnasium has removed.

    ## What it checks
    `env.seed(…)` on an environment that `gymnasium.make` made, as it is or wrapped by Gymnasium. Read from the
    source.

    ## Why it matters
    The method was removed with version 0.26: the program stops there with an AttributeError. Where that is caught,
    the environment is never seeded.

    ## Likely causes
    1. The program was written for the old Gym. Confirm: `hasattr(env, "seed")`.

    ## What to try first
    `obs, info = env.reset(seed=seed)` once, before the first episode, and `env.action_space.seed(seed)` where
    actions are drawn from it.

    ## When it is fine
    Nothing that is known of.

    ## References
    Gymnasium, *Migration guide: v0.21 to v1.0*.
    """

    code: ClassVar[str] = "SEE603"
    name: ClassVar[str] = "seed-method-gone"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE004",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            env = receiver(call)
            if method(call) == "seed" and env is not None and convention(evidence, env) == "gymnasium":
                name = evidence.quoted(env)
                given = evidence.quoted(call.args[0]) if call.args else "seed"
                yield self.finding(
                    f"{name} has no method seed() in Gymnasium",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected=f"{name}.reset(seed={given})",
                    help=f"{name}.reset(seed={given}) once, before the first episode",
                    confidence=0.95,
                )
