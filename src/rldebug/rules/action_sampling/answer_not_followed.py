"""The network is asked for the action, and another one is executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.exploring import Steps, discrete, sampled, steps_of, valued
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswerNotFollowed(Rule):
    """The values of the actions are asked for, and not followed.

    ## What it checks
    For a network that learns a value for each action, the steps before which it was asked. In the same stretches of the
    program there are steps before which it was not: so it is not asked where the action is random. Or it is always the
    same action that is executed. Either way the executed action is the best one no more often than by chance. Or
    several environments are played at once, and one action is executed in all of them.

    ## Why it matters
    The agent does not do what it has learned. It learns of other actions than those that it would take.

    ## Likely causes
    1. `argmax` over the wrong axis, or of something else than the values. Confirm: print values and action.
    2. The scores hold NaN after a mask: the argmax is the first of them. Confirm: `scores.isnan().any()`.
    3. `actions[0]` of a batch of observations. Confirm: print the shape of what `step` is given.
    4. The action is overwritten on its way to `step`. Confirm: print it in the line of `env.step`.

    ## What to try first
    Print the values, the action chosen and the action executed for ten steps.

    ## When it is fine
    Actions that are drawn in proportion to values, where the network is asked before every step, are not counted.

    ## References
    Seen in the wild: ACT-18 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT340"
    name: ClassVar[str] = "answer-not-followed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("ACT300", "ACT602")

    steps: int = 80  # before which the network was asked
    audits: int = 3  # in which it was
    shared: int = 20  # steps of several environments at once
    unasked: int = 2  # steps of an audit before which it was not
    above: float = 0.1  # by which the best action may be executed more often than by chance
    always: float = 0.97  # share of one action
    varied: float = 0.8  # share of the action that is most often the best

    def check(self, evidence: Script) -> Iterator[Finding]:
        count = discrete(evidence)
        found = [
            each
            for each in steps_of(evidence)
            if each.module in valued(evidence) and each.output.shape[1] == count and each.asked.sum() >= 4
        ]
        if count is None or not found or sampled(evidence):
            raise NotEnough("no network of values was seen that is asked for actions")
        mixed = [each for each in found if (~each.asked).sum() >= self.unasked]
        judged = self._ignored(mixed, count, constant=False) or self._ignored(found, count, constant=True)
        line = next((each.line for each in found if each.line), None)
        if judged is None:
            shared, differ = self._one_for_all(found)
            if differ:
                yield self.finding(
                    "one action is executed in all environments, whatever the network says of each",
                    where=Where(file=line[0], line=line[1]) if line else Where(),
                    seen=f"the same action in all lanes in each of {shared} steps before which the network was asked; "
                    f"in {differ} of them its best actions differ",
                    expected="an action for each environment",
                    help="hand the whole batch of actions to step, not the first of them",
                    confidence=0.92,
                )
            return
        agree, rows = judged
        yield self.finding(
            "the network is asked for the action, and its answer is not followed",
            where=Where(file=line[0], line=line[1]) if line else Where(),
            seen=f"the action with the largest value was executed in {agree:.0%} of {rows} steps before which the "
            f"network was asked; {1 / count:.0%} would be chance",
            expected="the action with the largest value, where the action is not random",
            help="print the values, the action that is chosen, and the action that is executed",
            confidence=0.9,
        )

    def _ignored(self, found: list[Steps], count: int, *, constant: bool) -> tuple[float, int] | None:
        known = [np.isfinite(each.agrees()) for each in found]
        rows = sum(int(each.sum()) for each in known)
        if rows < self.steps or sum(bool(each.any()) for each in known) < self.audits:
            return None
        agree = float(np.concatenate([each.agrees()[keep] for each, keep in zip(found, known, strict=True)]).mean())
        worst = float(
            np.concatenate([each.agrees(least=True)[keep] for each, keep in zip(found, known, strict=True)]).mean()
        )
        if agree > 1 / count + self.above or worst > 0.9:
            return None
        done = np.concatenate([each.executed[keep, 0] for each, keep in zip(found, known, strict=True)])
        best = np.concatenate([each.output[keep].argmax(axis=1) for each, keep in zip(found, known, strict=True)])
        if _most(best) > self.varied or (constant and _most(done) < self.always):
            return None
        return agree, rows

    def _one_for_all(self, found: list[Steps]) -> tuple[int, int]:
        """Steps of several lanes at once with one action; and in how many of them the lanes' best actions differ."""
        shared = differ = 0
        for each in found:
            nodes, known = each.audit.nodes, np.isfinite(each.agrees())
            calls = nodes.call[each.places]
            for call in np.unique(calls[known]):
                rows = (calls == call) & known
                if rows.sum() < 2 or len(np.unique(nodes.lane[each.places[rows]])) < 2:
                    continue
                if len(np.unique(each.executed[rows, 0])) > 1:
                    return 0, 0
                shared += 1
                differ += len(np.unique(each.output[rows].argmax(axis=1))) > 1
        return (shared, differ) if shared >= self.shared and differ >= 0.2 * shared else (0, 0)


def _most(column: np.ndarray) -> float:
    return float(np.unique(column, return_counts=True)[1].max() / len(column))
