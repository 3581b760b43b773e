"""The environment raises where it is used as agreed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvCallRaises(Rule):
    """The environment raises where it is used as agreed.

    ## What it checks
    A call of `reset()`, `step()` with an action of its own action space, or `close()` raised, while random actions were
    played from episode to episode.

    ## Why it matters
    A training ends there, often after hours, and with a traceback that begins in the library that called it.

    ## Likely causes
    1. A case that only some actions lead to: an index beyond a grid, a division by a sum that is zero. Confirm: play
       the action named in the finding from the step named.
    2. The state is not set up by every way through `reset()`. Confirm: call `reset()` twice in a row, then step.
    3. The action is expected in another form than `action_space` gives. Confirm: print `env.action_space.sample()` and
       what `step()` does with it.

    ## What to try first
    Run the line that is named with the action that is named, in a debugger.

    ## When it is fine
    Never: an action of the declared space has to be playable in every state. Where some are forbidden, offer an action
    mask in `info["action_mask"]`; this honours it.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ENV010"
    name: ClassVar[str] = "env-call-raises"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("ENV011", "ENV024")

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for failure in evidence.failures[:1]:
            yield self.finding(
                f"{failure.call} raises",
                where=Where(file=failure.file, line=failure.line, env_step=failure.steps),
                seen=f"{failure.said}, after {failure.steps} steps",
                expected="no exception for an action of the action space",
                help="play that action from there in a debugger, or forbid it with info['action_mask']",
                confidence=0.97,
            )
