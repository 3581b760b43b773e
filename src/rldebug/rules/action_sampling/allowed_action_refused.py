"""step() raises for an action at the edge of its space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AllowedActionRefused(Rule):
    """step() raises for an action at the edge of its space.

    ## What it checks
    The lowest, the highest and the middle action of a continuous space, every discrete action, and the lowest and
    highest of several: each is played from a fresh start.

    ## Why it matters
    Random actions hardly ever are exactly at a bound; a policy that clips or squashes its actions is there all the
    time.

    ## Likely causes
    1. An index is computed from the action: at the upper bound it is one too many. Confirm: look at the line that is
       named.
    2. The space includes what the environment does not know: one action too many. Confirm: compare `action_space.n`
       with the actions that `step()` handles.
    3. An assertion with `<` where `<=` is meant. Confirm: look for asserts on the action.

    ## What to try first
    Play the action that is named from a reset, in a debugger.

    ## When it is fine
    Never: narrow the space, or offer an action mask.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ACT005"
    name: ClassVar[str] = "allowed-action-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.refused_of:
            raise NotEnough("the action space has no edge that could be tried")
        for failure in evidence.refused[:1]:
            yield self.finding(
                f"{failure.call} raises, though the action is allowed",
                where=Where(file=failure.file, line=failure.line),
                seen=f"{failure.said}; {len(evidence.refused)} of {evidence.refused_of} actions at the edge",
                expected=f"every action of {evidence.action_space} to be playable",
                help="clip the index that is computed from the action, or narrow the action space",
                confidence=0.95,
            )
