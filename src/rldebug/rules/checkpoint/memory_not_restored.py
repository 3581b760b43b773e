"""Training goes on with loaded weights and an empty memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MemoryNotRestored(Rule):
    """Training goes on with loaded weights and an empty memory.

    ## What it checks
    Weights came out of a file. The first batches that are learned from after that hold the same few steps over and
    over, each of them from after the file was read. Exact.

    ## Why it matters
    A critic that was trained on a full memory is fitted to a handful of steps, hundreds of times. What the first
    sitting had learned is gone before the memory has filled up again.

    ## Likely causes
    1. The memory is not in the checkpoint. Stable-Baselines3: `model.save` leaves it out; `save_replay_buffer` and
       `load_replay_buffer` are calls of their own. Confirm: print the size of the memory before `learn`.
    2. The steps that are collected before the first update are counted from the beginning of the first sitting, so that
       there is no waiting in the second one. Confirm: print when the first update is made.

    ## What to try first
    Restore the memory, or wait until it is filled before the first update.

    ## When it is fine
    Never: where the memory may begin empty, it is to be filled first.

    ## References
    Stable-Baselines3, *Examples: Advanced Saving and Loading*.
    """

    code: ClassVar[str] = "CKP308"
    name: ClassVar[str] = "memory-not-restored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    rows: int = 16  # of a batch, at least
    share: float = 1 / 3  # of its rows that are different steps, at most
    batches: int = 8  # that are looked at

    def check(self, evidence: Script) -> Iterator[Finding]:
        read = [
            each
            for each in evidence.notes
            if each.get("kind") == "restored" or (each.get("kind") == "load" and each.get("what") == "file")
        ]
        if not read:
            raise NotEnough("no weights came out of a file")
        seen = 0
        for update in sorted({int(each.get("update") or 0) for each in read}):
            later = [
                (audit, term)
                for audit, term in evidence.terms("regression")
                if term.update >= update and len(term.arrays.get("rows", ())) >= self.rows
            ][: self.batches]
            seen = max(seen, len(later))
            kinds = [_different(audit, term, update) for audit, term in later]
            if len(kinds) < self.batches or any(
                kind is None or kind > self.share * len(term.arrays["rows"])
                for kind, (_, term) in zip(kinds, later, strict=True)
            ):
                continue
            size = len(later[0][1].arrays["rows"])
            yield self.finding(
                "training goes on with loaded weights, and with an empty memory",
                where=later[0][1].where,
                seen=f"batches of {size} rows hold {kinds[0]} to {max(kind or 0 for kind in kinds)} different steps, "
                f"all from after update {update}, when the file was read",
                expected="a memory that was restored, or that is filled before it is learned from",
                help="save and load the memory with the weights: in Stable-Baselines3 save_replay_buffer and "
                "load_replay_buffer",
                confidence=0.85,
            )
            return
        if seen < self.batches:
            raise NotEnough(f"{seen} batches were seen after weights came out of a file, needs {self.batches}")


def _different(audit: Audit, term: Event, update: int) -> int | None:
    """How many different steps a batch holds. None where that is not known, or some are older than that update."""
    nodes, places = audit.nodes, np.unique(audit.nodes.index(term.arrays["rows"]))
    if places[0] < 0 or not nodes.acted[places].all() or (nodes.update[places] < update).any():
        return None
    # A sitting may begin as another one has. Where everything comes up again, steps cannot be told apart.
    return len(places) if (nodes.alike[places] > 0).mean() <= 0.5 else None
