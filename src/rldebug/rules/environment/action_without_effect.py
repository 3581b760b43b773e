"""Some actions have the same consequences as others, or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionWithoutEffect(Rule):
    """Some actions have the same consequences as others, or none.

    ## What it checks
    From many states, reached by random play, each action is tried in turn, and the episode goes on with the same
    actions: two discrete actions that led to the same observations, rewards and ends every time, or a dimension of a
    Box action that changed nothing from one bound to the other while others did.

    ## Why it matters
    A dead dimension is mostly an index that is off, and its actuator then cannot be learned. A double action makes one
    behaviour twice as likely under a random policy.

    ## Likely causes
    1. `action[0]` is used where `action[1]` was meant. Confirm: look for every index of the action in `step()`.
    2. Two branches of an `if` or two rows of a table do the same. Confirm: read the mapping from action to effect.
    3. The effect is clipped or rounded away. Confirm: print it before and after.

    ## What to try first
    Search for each action in `step()`, and see that it is used.

    ## When it is fine
    An action that only works in places that random play does not reach; action sets shared by many games.

    ## References
    Bellemare et al., *The Arcade Learning Environment* (legal and minimal action sets).
    """

    code: ClassVar[str] = "ENV043"
    name: ClassVar[str] = "action-without-effect"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV031",)

    tries: int = 100  # states from which each discrete action was tried
    dimension_tries: int = 20  # the same for dimensions of a Box, which seldom have a meaning in a few places only

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        effects = evidence.effects
        if not effects.tried or not evidence.twins.repeatable:
            raise NotEnough("needs discrete or Box actions, and an environment that repeats itself under a seed")
        boxed = evidence.actions == float("inf")
        if effects.tries < (self.dimension_tries if boxed else self.tries):
            raise NotEnough(f"{effects.tries} states from which every action was tried")
        if effects.idle and len(effects.idle) < len(effects.tried):
            yield self.finding(
                f"{', '.join(effects.idle[:4])} changes nothing",
                seen=f"moved from bound to bound in {effects.tries} states: the same observations, rewards and ends",
                expected="every dimension of the action does something",
                help=f"look for {effects.idle[0]} in step(): another index may be used in its place",
                confidence=0.8,
                severity="warning",
            )
        if effects.same and len(effects.same[0]) < len(effects.tried):
            groups = "; ".join(" and ".join(each) for each in effects.same[:3])
            yield self.finding(
                "some actions do the same as others",
                seen=f"actions {groups} had the same consequences in all {effects.tries} states they were tried in",
                expected="every action does something of its own",
                help="compare what step() does for these actions",
                confidence=0.7,
            )
