"""Every update learns from the same batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BatchNeverChanges(Rule):
    """Update after update learns from one and the same batch.

    ## What it checks
    A fingerprint of the batch (old log-probs, targets and advantages; or the observations of a replay batch) is equal,
    bit for bit, in update after update, although the environment was stepped in between. Epochs over the full batch
    repeat it only while nothing new is collected, and do not count.

    ## Why it matters
    The network fits a handful of rows by heart and never sees what the agent does now.

    ## Likely causes
    1. A batch is sampled or built once, outside of the loop, or cached. Confirm: print the first row of each batch.
    2. The generator that draws the rows is seeded anew before each draw. Confirm: print the sampled indices.
    3. New rows are written to a copy. Confirm: `rollout/fingerprint` changes while `batch/fingerprint` does not.

    ## What to try first
    Print the sampled indices of three consecutive updates.

    ## When it is fine
    Deliberately overfitting one batch, as a test of the learner. Batches whose rows are all alike are left out.

    ## References
    Karpathy, *A Recipe for Training Neural Networks* (overfit one batch, on purpose). pytorch/rl pull request 3871 (a
    prefetched batch returned again).
    """

    code: ClassVar[str] = "BUF004"
    name: ClassVar[str] = "batch-never-changes"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = ("BUF005", "OPT007")

    collections: int = 6  # readings with new env steps between them, all with the same batch
    alike: float = 0.95  # share of equal rows above which a batch has no fingerprint

    def check(self, evidence: Run) -> Iterator[Finding]:
        replayed, batch = evidence["replay/fingerprint"], evidence["batch/fingerprint"]
        if not len(replayed) and not len(batch):
            raise NotEnough("no batch was handed over, needs dbg.replay(...) or targets in dbg.update(...)")
        if len(replayed):
            series, what = replayed, "replay"
            rows_differ = evidence["replay/duplicates"].median() < self.alike
        else:
            series, what = batch, "update"
            rows_differ = self._data_moves(evidence)
        repeated = _longest_repeat(series)
        if np.isnan(series.value).all() or len(np.unique(series.env_step)) < self.collections:
            raise NotEnough(f"{len(np.unique(series.env_step))} batches with new env steps between them")
        if len(np.unique(repeated.env_step)) < self.collections or not rows_differ:
            return
        rollouts = evidence["rollout/fingerprint"].finite
        during = rollouts.keep((rollouts.update >= repeated.update[0]) & (rollouts.update <= repeated.update[-1]))
        if what == "update" and len(rollouts) and len(np.unique(during.value)) < 2:
            return  # the rollouts themselves repeat: a settled policy in an environment without chance
        yield self.finding(
            "every update learns from the same batch",
            where=replace(evidence.call(what), update=int(repeated.update[0]), env_step=int(repeated.env_step[0])),
            seen=f"the same fingerprint {repeated.first:.9g} in {len(repeated)} readings from update "
            f"{repeated.update[0]} to {repeated.update[-1]}, while {repeated.env_step[-1] - repeated.env_step[0]} env "
            "steps were taken",
            expected="another batch whenever new data came in",
            help="draw or build the batch inside the loop, from the newest data, with a generator that goes on",
            confidence=0.97,
        )

    def _data_moves(self, run: Run) -> bool:
        """Whether a batch of new data would have shown: constant targets and log-probs are the same every time."""
        varied = max(run["target/std"].min(), run["advantage/std"].min()) > 0
        rollouts = run["rollout/fingerprint"].finite.value
        new_rollouts = len(np.unique(rollouts)) > 1
        random = run["policy/entropy_rel"].median() > 0.1 and run["policy/kl"].max() > 1e-6
        return bool(varied and (new_rollouts or random))


def _longest_repeat(series: Series) -> Series:
    """The longest stretch of readings with one and the same value."""
    edges = np.flatnonzero(series.value[1:] != series.value[:-1]) + 1  # NaN differs from itself
    starts, ends = np.r_[0, edges], np.r_[edges, len(series)]
    longest = int(np.argmax(ends - starts))
    keep = np.zeros(len(series), dtype=bool)
    keep[starts[longest] : ends[longest]] = True
    return series.keep(keep)
