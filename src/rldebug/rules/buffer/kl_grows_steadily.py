"""The policy drifts away, over the whole run, from the policy its data came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class KlGrowsSteadily(Rule):
    """The KL divergence to the data's policy grows all through the run.

    ## What it checks
    The divergence between the policy that acted and the one that learns, always at the same place: in the first
    minibatch after a rollout, where it should be 0. It grows steadily from about 0 by orders of magnitude. The rule
    looks only at buffers that may hold old rows: ones that grow, or whose old log-probs are not the newest rollout's.
    Where no rollouts are handed over, a steady growth of the divergence as a whole is a note.

    ## Why it matters
    The same early experience is fed to the network again and again, and what the agent does now never reaches it.

    ## Likely causes
    1. The buffer is never cleared: each rollout is appended to all those before. Confirm: `rollout/steps` and
       `batch/rows` grow.
    2. New rows are written where they are never read: a copy, a cached tensor, a wrong index. Confirm:
       `policy/logp_from_rollout` is 0 after the first rollout.
    3. Old log-probs are kept from an earlier rollout while the rest is new. Confirm: `old-logp-not-from-rollout`.

    ## What to try first
    Print the length of the buffer, and its first row, at the start of every update phase.

    ## When it is fine
    Off-policy algorithms whose replay buffer is still filling: the divergence grows until the buffer turns over.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (Kullback-Leibler divergence).
    """

    code: ClassVar[str] = "BUF001"
    name: ClassVar[str] = "kl-grows-steadily"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/kl",)
    follows: ClassVar[tuple[str, ...]] = ("BUF003", "BUF004", "BUF005")
    aftermath: ClassVar[bool] = True

    readings: int = 8  # first minibatches; fewer show no trend
    steadiness: float = 0.8  # rank correlation of the divergence with time
    growth: float = 100.0  # last quarter over the first two readings
    floor: float = 0.02  # nats at the end, in the first minibatch; healthy runs stay below 1e-5 there
    loose_readings: int = 24  # without rollouts
    loose_steadiness: float = 0.9  # without rollouts
    loose_floor: float = 0.5  # nats at the end, without rollouts

    def check(self, evidence: Run) -> Iterator[Finding]:
        kl = evidence["policy/kl"].finite
        firsts = evidence["policy/first_log_ratio"]
        if len(firsts):
            kl = kl.keep(np.isin(kl.update, firsts.update))
            if len(kl) < self.readings:
                raise NotEnough(f"{len(kl)} first minibatches, needs {self.readings}")
            if self._grows(kl, self.steadiness, self.floor) and self._may_be_old(evidence):
                # A replay that is still filling holds old rows on purpose, and a share of new ones.
                sure = self._piles_up(evidence) or self._own_share(evidence).max() == 0
                place = "in the first minibatch after a rollout"
                yield self._found(
                    evidence, kl, place, "about 0 there", 0.75 if sure else 0.4, "warning" if sure else "note"
                )
            return
        if len(kl) < self.loose_readings:
            raise NotEnough(f"{len(kl)} readings of the divergence, needs {self.loose_readings}")
        if self._grows(kl, self.loose_steadiness, self.loose_floor):
            yield self._found(evidence, kl, "over the run", "a divergence that levels out", 0.5, "note")

    def _grows(self, kl: Series, steadiness: float, floor: float) -> bool:
        end = kl.tail(0.25).median()
        start = float(np.mean(kl.value[:2]))
        return end >= floor and end >= self.growth * start and _rank_correlation(kl.value) >= steadiness

    def _may_be_old(self, run: Run) -> bool:
        """Rows that are bit for bit those of a newest rollout of constant size cannot be old ones."""
        if self._piles_up(run):
            return True
        late = self._own_share(run)
        return not len(late) or late.median() < 0.5

    def _own_share(self, run: Run) -> Series:
        """Rows that are of the newest rollout, after the first, which can have no others."""
        share = run["policy/logp_from_rollout"].finite
        return share.keep(share.update > share.update[0]) if len(share) else share

    def _piles_up(self, run: Run) -> bool:
        """Whether each rollout handed over is larger than the last: it still holds the ones before."""
        size = run["rollout/steps"].finite.value
        return bool(len(size) and size[-1] >= 2 * size[0] and _rank_correlation(size) > 0.9)

    def _found(self, run: Run, kl: Series, place: str, expected: str, confidence: float, severity: Severity) -> Finding:
        start, end = float(np.mean(kl.value[:2])), kl.tail(0.25).median()
        return self.finding(
            "the policy moves further and further away from the policy its data came from",
            where=replace(run.call("update"), update=int(kl.update[-1]), env_step=int(kl.env_step[-1])),
            seen=f"divergence {place}: {start:.2g} nats at the start, {end:.2g} in the last quarter, growing steadily",
            expected=expected,
            help="check that the buffer is cleared or overwritten before each new rollout",
            confidence=confidence,
            severity=severity,
        )


def _rank_correlation(values: NDArray[np.float64]) -> float:
    """Of the values with their order in time."""
    if np.all(values == values[0]):
        return 0.0
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(values)))[0, 1])
