"""The answers to a prompt are not compared with their own mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_advantages import Weighted, weighted
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersNotCentred(Rule):
    """The answers to a prompt are not compared with their own mean.

    ## What it checks
    Several answers are written to each prompt, and each is weighted with one number. Over the answers to a prompt
    these do not sum to zero, nor do they over the whole batch; and they are no plain reward either: one and the
    same answer of every group always gets exactly nil, or they are the rewards divided by the spread of their
    group.

    ## Why it matters
    Without its mean as a baseline a group pushes all of its answers the same way. The gradient is dominated by how
    easy the prompt was.

    ## Likely causes
    1. The baseline is the reward of one answer, the first, and not the mean. Confirm: look for an index before the
       mean.
    2. The mean is not subtracted, the spread is divided by all the same. Confirm: print the mean of a group.

    ## What to try first
    Subtract the mean of the rewards of all answers to the prompt.

    ## When it is fine
    A baseline from a greedy answer, a running mean, a critic: these are left alone.

    ## References
    Bug kind ADV-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV371"
    name: ClassVar[str] = "answers-not-centred"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weighed"
    follows: ClassVar[tuple[str, ...]] = ("ADV370",)

    rounds: int = 1  # of writing and learning
    apart: float = 0.05  # a mean that is not nil, beside the spread

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, first, divided, part = 0, [], [], []
        for each in weighted(evidence):
            judged += 1
            whole = np.zeros(len(each.advantage), dtype=int)
            if each.sums(each.groups) < self.apart or each.sums(whole) < 1e-3:
                continue
            if _one_is_nil(each):
                first.append(each)
            elif _divided(each):
                divided.append(each)
            elif _in_part(each):
                part.append(each)
        if judged < self.rounds:
            raise NotEnough(f"{judged} rounds whose advantages and prompts are known, needs {self.rounds}")
        wrong = max(first, divided, part, key=len)
        if len(wrong) < max(self.rounds, (0.0 if wrong is part else 0.7) * judged):
            return
        each = wrong[0]
        nil = wrong is first
        said = "the rewards are divided by the spread of their group, and its mean is not subtracted"
        if nil:
            said = "the answers to a prompt are compared with one of them, not with their mean"
        elif wrong is part:
            said = "a part only of the mean of the answers to a prompt is subtracted, or more than all of it"
        yield self.finding(
            f"`{each.name}`: {said}",
            where=each.passes[0].call.where,
            seen=f"a mean of up to {each.sums(each.groups):.2g} spreads among the answers to one prompt"
            + ("; always nil for the same answer of a group" if nil else ""),
            expected="a mean of nil among the answers to one prompt",
            help="subtract the mean over all answers to the prompt",
            confidence=0.95,
        )


def _one_is_nil(each: Weighted) -> bool:
    """One and the same answer of every group has no advantage, while others have."""
    sets = [each.advantage[each.groups == one] for one in np.unique(each.groups)]
    sets = [one for one in sets if one.std() > 0]
    if len(sets) < 4 or len({len(one) for one in sets}) > 1:
        return False
    nil = np.abs(np.stack(sets)) < 1e-9
    return bool(nil.all(axis=0).sum() == 1 and nil.mean() < 0.7)


def _divided(each: Weighted) -> bool:
    """A number of the program, divided by a spread of its own in every group, and nothing subtracted."""
    for _, values in each.others:
        factors = []
        for one in np.unique(each.groups):
            at = (each.groups == one) & (np.abs(values) > 1e-9)
            if at.sum() < 3 or values[at].std() < 1e-9:
                continue
            factor = each.advantage[at] / values[at]
            if np.ptp(factor) > 1e-3 * abs(float(factor.mean())):
                break
            factors.append(float(factor.mean()) * float(values[each.groups == one].std()))
        else:
            if len(factors) >= 3 and np.ptp(factors) < 0.1 * float(np.mean(factors)) and np.mean(factors) > 0:
                return True
    return False


def _in_part(each: Weighted) -> bool:
    """A multiple of a number of the program and of its sum over the group, exactly: but not of its distance to the
    mean."""
    sets = np.unique(each.groups)
    for _, values in each.others:
        sums = np.zeros(len(values))
        for one in sets:
            sums[each.groups == one] = values[each.groups == one].mean()
        x = np.stack([values, sums], axis=1)
        if len(sets) < 3 or values.std() < 1e-9 or (values - sums).std() < 1e-6 * values.std() or sums.std() < 1e-9:
            continue
        (own, mean), *_ = np.linalg.lstsq(x, each.advantage, rcond=None)
        exact = np.abs(x @ np.array([own, mean]) - each.advantage).max() < 1e-4 * float(each.advantage.std())
        if exact and own > 0 and mean < -0.05 * own and abs(own + mean) > 0.02 * own:
            return True
    return False
