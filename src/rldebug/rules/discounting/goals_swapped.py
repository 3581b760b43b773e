"""The reward of a goal is computed with the two goals swapped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.names import argument, method
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class GoalsSwapped(Rule):
    """The reward of a goal is computed with the two goals swapped.

    ## What it checks
    `compute_reward(achieved_goal, desired_goal, info)` of goal-conditioned environments is handed the entry
    `"desired_goal"` first and `"achieved_goal"` second. Read from the source.

    ## Why it matters
    A distance is the same both ways, which hides it. Rewards that are not, and environments that read more than the
    position from the achieved goal, give wrong rewards for all relabelled transitions.

    ## Likely causes
    1. The order of the parameters was not looked up. Confirm: the documentation of `GoalEnv.compute_reward`.

    ## What to try first
    `env.compute_reward(obs["achieved_goal"], obs["desired_goal"], info)`.

    ## When it is fine
    Where the environment is your own and takes them in this order.

    ## References
    RWD-12 of bench/bugs (Stable-Baselines3 PR 1570). Andrychowicz et al., *Hindsight experience replay*.
    """

    code: ClassVar[str] = "DIS623"
    name: ClassVar[str] = "goals-swapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            names = [each for each in ("compute_reward", "compute_terminated") if method(call) == each]
            if not names:
                continue
            first, second = argument(call, 0, "achieved_goal"), argument(call, 1, "desired_goal")
            if _keys(evidence, first) == {"desired_goal"} and _keys(evidence, second) == {"achieved_goal"}:
                yield self.finding(
                    f"{names[0]}() gets the desired goal where it expects the achieved one",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected="the achieved goal first, then the desired one",
                    help=f"{names[0]}(achieved_goal, desired_goal, info)",
                    confidence=0.93,
                )


def _keys(source: Source, node: ast.expr | None) -> set[str]:
    """Which of the two entries an expression is taken from."""
    if node is None:
        return set()
    inside = [one for each in (node, meant(source, node)) for one in ast.walk(each)]
    said = {each.value for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return {each for each in ("achieved_goal", "desired_goal") if any(each in one for one in said)}
