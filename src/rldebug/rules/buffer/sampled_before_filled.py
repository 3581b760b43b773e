"""A batch is asked of a buffer that does not hold one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_DRAWN_FROM = ("collection", "buffer", "array", "tensor")


@dataclass(frozen=True, kw_only=True)
class SampledBeforeFilled(Rule):
    """A batch is asked of a buffer that does not hold one.

    ## What it checks
    Drawing a sample failed because there are fewer items than were asked for, or none.

    ## Why it matters
    Training begins before there is anything to train on.

    ## Likely causes
    1. The guard that waits for enough transitions is missing or counts something else. Confirm: print the length of the
       buffer on the line before.
    2. The buffer is emptied, or items are put into another one. Confirm: the same.
    3. No episode has ended yet, and only whole episodes are stored. Confirm: the same.

    ## What to try first
    Train only once the buffer holds a batch.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `random.sample`; NumPy, `Generator.choice`.
    """

    code: ClassVar[str] = "BUF402"
    name: ClassVar[str] = "sampled-before-filled"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        drawn = evidence.says(
            "Sample larger than population",
            "Cannot take a larger sample than population",
            "a must be greater than 0 unless no samples",
            "cannot be empty unless no samples",
            "must be a positive integer unless no samples",
            "empty range for randrange",
            "empty range in rand",
            "Cannot choose from an empty",
            "low >= high",
            "high <= 0",
            "'from' to be less than 'to'",
            "num_samples should be a positive integer",
            "prob_dist is not empty",
        )
        empty = evidence.says(
            "stack expects a non-empty TensorList", "need at least one array to", "expected a non-empty list of Tensors"
        )
        return drawn or (empty and place(evidence) == "buffer")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, held = _population(evidence)
        asked = [
            each
            for each, fact in evidence.operands().items()
            if fact["kind"] == "number" and type(fact["value"]) is int and fact["value"] > (held or 0)
        ]
        known = name and held is not None
        yield self.finding(
            f"a batch was asked of {name or 'a buffer'}, which does not hold one"
            if not known
            else f"a batch was asked of {name}, which holds {held}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {name} holds {held}' if known else ''}{operands_told(evidence)}",
            expected="as many items as are asked for",
            help=f"begin to train only once the buffer holds a batch: if len({name or 'buffer'}) >= "
            f"{asked[0] if len(asked) == 1 else 'batch_size'}",
            confidence=0.9,
        )


def _population(evidence: Crash) -> tuple[str, int | None]:
    """What was drawn from, and how many it holds, where one name in the line can be it."""
    drawn = [(name, fact) for name, fact in evidence.operands().items() if fact["kind"] in _DRAWN_FROM]
    if len(drawn) != 1:
        return "", None
    name, fact = drawn[0]
    return name, fact.get("length", fact.get("shape", [None])[0] if fact.get("shape") else None)
