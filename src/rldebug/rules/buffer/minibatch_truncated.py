"""The last minibatch of each epoch is smaller than the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MinibatchTruncated(Rule):
    """The last minibatch of each epoch is smaller than the others.

    ## What it checks
    A library warned that the minibatch size does not divide the rollout.

    ## Why it matters
    A small batch has a noisier gradient and, normalised by itself, wild advantages: with one row they are NaN.

    ## Likely causes
    1. `n_steps * n_envs` is not a multiple of `batch_size`. Confirm: compute the remainder.
    2. The number of environments was changed, and the batch size was not. Confirm: the same.

    ## What to try first
    Take a batch size that divides `n_steps * n_envs`.

    ## When it is fine
    Where the remainder is nearly as large as the batch.

    ## References
    Stable-Baselines3, `PPO`.
    """

    code: ClassVar[str] = "BUF440"
    name: ClassVar[str] = "minibatch-truncated"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "there will be a truncated mini-batch of size",
            r"`?n_steps \* n_envs`? must be greater than 1",
            r"mini-batch size of \d+, but because the `RolloutBuffer`",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        batch = re.search(r"mini-batch size of (\d+)", evidence.message)
        rows = re.search(r"of size `n_steps \* n_envs = (\d+)`", evidence.message)
        rest = re.search(r"truncated mini-batch of size (\d+)", evidence.message)
        sizes = batch and rows and f"{rows[1]} rows in batches of {batch[1]}"
        near = _factors(int(rows[1]), int(batch[1])) if batch and rows else ""
        yield self.finding(
            f"batch_size does not divide the rollout{f': {sizes} leave {rest[1]}' if sizes and rest else ''}",
            where=evidence.where,
            seen=evidence.said,
            expected="minibatches of one size",
            help=f"take a batch_size that divides n_steps * n_envs{f': {near}' if near else ''}",
            confidence=0.95,
        )


def _factors(rows: int, batch: int) -> str:
    """The nearest that divide, below and above."""
    fits = [each for each in range(2, min(rows, 8 * batch) + 1) if rows % each == 0]
    below, above = [each for each in fits if each < batch], [each for each in fits if each > batch]
    return " or ".join(str(each) for each in (*below[-1:], *above[:1]))
