"""The ratio is not 1 although nothing was learned since the actions were drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import acting, calls_of, owned, recurrent
from rldebug.forensics.surrogates import Surrogate, surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FirstUpdateRatioOff(Rule):
    """The ratio is not 1 before the first step.

    ## What it checks
    In the first loss after acting, nothing that it trains has been stepped since the actions were drawn: new and old
    log-probs of the same actions must agree up to rounding, and the ratio of a clipped surrogate must be 1. Reported
    where many rows differ in every such loss, from the first of the run on.

    ## Why it matters
    The ratio then measures the mistake and not the progress: rows are clipped, or weighted, at random.

    ## Likely causes
    1. What was true when acting is missing in the loss, or the other way round: an action mask, a temperature, a
       recurrent state, a normalised observation. Confirm: compare the inputs of the network at both times.
    2. The stored action is not the one whose log-prob was stored. Confirm: compute its log-prob once more when acting.
    3. Dropout is active. Confirm: the difference is gone with `policy.eval()` in both places.
    4. The old log-probs belong to other rows: another order, another shape. Confirm: sort both and compare.

    ## What to try first
    Right after the rollout, compute the log-probs once more and print the largest difference.

    ## When it is fine
    Half precision, and actors that run behind the learner: the first stays under the thresholds, the second begins
    with a ratio of 1. Ratios that are not clipped may correct for another way of acting, and are not judged; nor are
    those to a policy of its own that is asked for the loss, an average of the last ones perhaps.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (2022).
    Seen in the wild: POL-13, POL-14 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL300"
    name: ClassVar[str] = "first-update-ratio-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"
    follows: ClassVar[tuple[str, ...]] = (
        "ACT300",
        "ACT320",
        "ACT323",
        "ACT331",
        "BUF300",
        "BUF301",
        "BUF368",
        "BUF371",
        "BUF373",
        "NET397",
        "NET512",
        "NRM304",
        "POL380",
        "POL381",
        "POL382",
        "POL388",
    )

    audits: int = 2  # with a first loss that can be judged
    apart: float = 0.03  # nats: more than rounding, half precision included
    share: float = 0.2  # of the rows
    few: float = 0.05  # of the rows, where the others are exactly 1
    mean: float = 0.04  # nats, of the rows' mean
    mixed: float = 0.15  # nats, where some of it is computed in half precision

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen: dict[int, tuple[float, float, Surrogate]] = {}
        some: dict[int, bool] = {}
        for each in surrogates(evidence):
            ratio, number = each.ratio, each.audit.number
            if not each.fresh or number in seen or ratio is None or not each.term.get("clip"):
                continue
            if _around_another(evidence, each):
                continue
            counted = each.counted
            if counted is not None and counted.size == ratio.size:
                ratio = ratio[counted]
            if len(ratio) < 8 or not (ratio >= 0).all() or not np.isfinite(ratio).all():
                continue
            away = np.abs(np.log(np.maximum(ratio, 1e-30)))  # 0: an action that the loss takes for forbidden
            share, mean = float((away > self.apart).mean()), float(away.mean())
            seen[number] = share, mean, each
            # A drift of inputs or statistics moves all rows a little; a wrong log-prob of some, only those.
            some[number] = self._some_only(each)
        if len(seen) < self.audits:
            raise NotEnough(f"{len(seen)} first losses of a rollout with a clipped ratio, needs {self.audits}")
        # A policy that starts exactly uniform gives all actions the same log-prob: the first one may not show it.
        least = self.mixed if evidence.noted("amp") else self.mean
        bad = [some[number] or (share > self.share and mean > least) for number, (share, mean, _) in seen.items()]
        # Nor does it where nothing was learned yet, and a copy acts that is never renewed.
        start = next(iter(seen.values()))[2]
        begun = bad[0] or _even(start) or (start.term.update == 0 and len(bad) > self.audits)
        if not all(bad[1:]) or not begun:
            return
        number, (share, mean, first) = next(each for each, wrong in zip(seen.items(), bad, strict=True) if wrong)
        rest = "; the others are exactly 1" if some[number] else ""
        yield self.finding(
            "the ratio is not 1 although the policy has not changed since it acted",
            where=first.term.where,
            seen=f"|log ratio| {mean:.2g} on average, above {self.apart} in {share:.0%} of the rows of the first "
            f"loss{rest}; so in {sum(bad)} of {len(bad)} rollouts",
            expected="a ratio of 1 in the first loss after acting",
            help="compute the log-probs of the loss as when acting: same mask, same input, same mode, same action",
            confidence=0.95,
            # Memories that are begun anew in the middle of an episode make it differ too, and that is often accepted.
            severity="warning" if any(recurrent(evidence, each) for each in first.term.get("reached") or ()) else None,
        )

    def _some_only(self, surrogate: Surrogate) -> bool:
        """Of the rows that somebody acted on: padding has no log-prob of its own."""
        rows, ratio = surrogate.term.arrays.get("rows"), surrogate.ratio
        if rows is None or ratio is None or len(rows) != len(ratio):
            return False
        known = surrogate.audit.nodes.index(rows) >= 0
        if known.mean() < 0.9:
            return False
        away = np.abs(np.log(np.maximum(ratio[known], 1e-30)))
        return float((away > self.apart).mean()) > self.few and float(np.median(away)) < 1e-4


def _around_another(script: Script, surrogate: Surrogate) -> bool:
    """Whether another policy is asked about the same rows for the loss, one that never acts and that nobody trains: the
    ratio is to that one then, an average of the last ones perhaps."""
    term = surrogate.term
    rows, reached = term.arrays.get("rows"), [script.modules.get(each) for each in term.get("reached") or ()]
    kinds = {(each.get("class"), each.get("parameters")) for each in reached if each is not None}
    if rows is None or not kinds:
        return False
    actors = {call.module for call in acting(script)}
    for call in calls_of(script):
        if call.audit is not surrogate.audit or call.update != term.update or call.order >= term.order:
            continue
        told = script.modules.get(call.module) or {}
        other = call.module not in actors and not call.event.get("grad") and not owned(script, call.module)
        if other and (told.get("class"), told.get("parameters")) in kinds and np.array_equal(call.rows, rows):
            return True
    return False


def _even(surrogate: Surrogate) -> bool:
    """Whether all log-probs are about the same, as those of a policy that starts uniform."""
    logp = surrogate.term.arrays.get("logp")
    return logp is not None and float(np.std(logp)) < 0.02
