"""The log-prob is that of a clipped action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.roles import roles_of
from rldebug.forensics.scored_draws import Scored, scored_draws
from rldebug.forensics.trained_actions import equal, trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClippedActionScored(Rule):
    """The log-prob is that of a clipped action.

    ## What it checks
    A Gaussian policy that learns from its own actions. A density gives no number twice: where many actions of the loss
    are exactly the same largest, or smallest, number, and that is what was given to the environment, they were clipped
    before their log-prob was taken. Or the draws themselves are known: mean and deviation of each number in the loss
    say which draw it was. Where it differs it is one and the same bound, and the draw lies beyond it.

    ## Why it matters
    The policy gradient is that of the action that was drawn. With the clipped one in its place the mean is pulled
    towards the bound or held there, whatever it earns, and the deviation shrinks.

    ## Likely causes
    1. The clipped action is stored. Confirm: compare what is stored with what `sample()` returned.
    2. The draw is clipped at once, before `log_prob`. Confirm: read the two lines.

    ## What to try first
    Keep the raw action for the loss, and clip only what is given to `env.step`.

    ## When it is fine
    Actions of others, as in a data set, that were clipped when they were recorded.

    ## References
    Seen in the wild: ACT-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT357"
    name: ClassVar[str] = "clipped-action-scored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "clipped"
    follows: ClassVar[tuple[str, ...]] = ("ACT320",)

    rows: int = 64  # whose action is known, in all
    share: float = 0.04  # of the rows with a number on a bound
    times: int = 8  # that it comes up
    audits: float = 0.8  # share of the audits with such rows

    def check(self, evidence: Script) -> Iterator[Finding]:
        if roles_of(evidence).on_policy is not True:
            raise NotEnough("not a policy that learns from its own actions")
        scored = [each for each in scored_draws(evidence) if each.learned]
        cut = self._cut_off(scored)
        if cut is not None:
            yield self.finding(
                "the log-prob is taken of the action after it was clipped",
                where=next((each.event.where for each in scored if each.event.get("line")), scored[0].event.where),
                seen=cut,
                expected="the action as it was drawn",
                help="store the raw action, and clip only what is given to env.step",
                confidence=0.95,
            )
            return
        audits: dict[int, list[np.ndarray]] = {}
        where: Where | None = None
        for each in trained_actions(evidence):
            term = each.term
            if each.discrete or term["kind"] != "policy" or term.get("family") != "normal":
                continue
            done = each.executed
            known = np.isfinite(done).all(axis=1)
            if known.sum() < 8 or not equal(done[known], each.action[known]).mean() > 0.95:
                continue
            audits.setdefault(each.audit.number, []).append(each.action[known])
            where = where or term.where
        if len(audits) < 2 or sum(len(one) for each in audits.values() for one in each) < self.rows:
            raise NotEnough("too few actions of a Gaussian policy that were executed as they are learned")
        piled = _piled(np.concatenate([one for each in audits.values() for one in each]), self.times)
        numbers = np.concatenate([np.full(sum(map(len, each)), number) for number, each in audits.items()])
        shares = [float(piled[numbers == number].mean()) for number in audits]
        if piled.mean() < self.share or np.mean(np.array(shares) > 0.0) < self.audits:
            return
        yield self.finding(
            "the log-prob is taken of the action after it was clipped",
            where=where,
            seen=f"{piled.mean():.0%} of the actions of the loss are exactly on a bound, in {len(shares)} audits",
            expected="the action as it was drawn",
            help="store the raw action, and clip only what is given to env.step",
            confidence=0.85,
        )

    def _cut_off(self, known: Sequence[Scored]) -> str | None:
        """What is learned beside what was drawn: equal but for draws beyond a bound, which became that bound."""
        if not known or len({each.audit.number for each in known}) < 2:
            return None
        value, drawn, column = (
            np.concatenate([np.asarray(getattr(each, name)) for each in known]) for name in ("value", "drawn", "column")
        )
        other = np.abs(value - drawn) > 1e-5 * (1.0 + np.abs(drawn))
        if len(value) < self.rows or not self.times <= other.sum() <= 0.9 * len(value):
            return None
        bounds: set[float] = set()
        for each in np.unique(column[other]):
            for beyond, end in (
                (drawn > value, value[column == each].max()),
                (drawn < value, value[column == each].min()),
            ):
                mine = other & beyond & (column == each)
                if (np.abs(value[mine] - end) > 2e-6 * (1.0 + abs(end))).any():
                    return None
                bounds |= {round(float(end), 4)} if mine.any() else set()
        ends = " or ".join(f"{each:.4g}" for each in sorted(bounds)[:4])
        return (
            f"{ends} where more or less was drawn, in {int(other.sum())} of {len(value)} numbers; the others are equal"
        )


def _piled(action: np.ndarray, times: int) -> np.ndarray:
    """Rows with a number at the end of its range that comes up again and again, and never beyond."""
    rows = np.zeros(len(action), dtype=bool)
    seen = np.unique(action, axis=0)
    if len(seen) < 0.2 * len(action):
        return rows  # a few actions, over and over
    for column in action.T:
        for end in (column.min(), column.max()):
            at = np.abs(column - end) <= 2e-6 * (1.0 + abs(end))  # it is worked back from the loss, up to rounding
            if at.sum() >= times:
                rows |= at
    return rows
