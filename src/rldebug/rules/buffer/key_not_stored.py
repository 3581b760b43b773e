"""A batch is asked for a key that was never stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_OF_INFO = ("episode", "_episode", "final_observation", "final_obs", "final_info", "terminal_observation")


@dataclass(frozen=True, kw_only=True)
class KeyNotStored(Rule):
    """A batch is asked for a key that was never stored.

    ## What it checks
    A KeyError in a dictionary of tensors, arrays or lists.

    ## Why it matters
    What is read from the buffer has to be what was put there.

    ## Likely causes
    1. The key is spelt differently where it is stored. Confirm: compare with the keys that are named.
    2. It is stored on some steps only. Confirm: print the keys of each row.

    ## What to try first
    Print the keys of the batch.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `dict`.
    """

    code: ClassVar[str] = "BUF450"
    name: ClassVar[str] = "key-not-stored"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return _stored(evidence) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, keys = _stored(evidence) or ("the batch", [])
        asked = evidence.message.strip("'\"")
        near = get_close_matches(asked, keys, n=1, cutoff=0.6)
        yield self.finding(
            f"{name} holds no {asked!r}",
            where=evidence.where,
            seen=f"{evidence.said}; {name} has {', '.join(keys[:8])}",
            expected="the keys under which it was stored",
            help=f"read {near[0]!r}, or store {asked!r} with every step"
            if near
            else f"store {asked!r} with every step",
            confidence=0.85,
        )


def _stored(evidence: Crash) -> tuple[str, list[str]] | None:
    """The dictionary of rows in the line, with its keys."""
    asked = re.fullmatch(r"'(.*)'", evidence.message)
    if not evidence.is_a("KeyError") or asked is None or asked[1] in _OF_INFO:
        return None
    if any(asked[1] in fact.get("agents", ()) for _, _, fact in evidence.held("environment")):
        return None
    for name, fact in evidence.operands().items():
        held = set(fact.get("values", ()))
        if fact.get("type") == "dict" and held & {"tensor", "array", "collection"} and asked[1] not in fact["keys"]:
            return name, fact["keys"]
    return None
