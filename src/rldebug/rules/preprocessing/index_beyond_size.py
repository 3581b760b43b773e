"""A number that is no action is beyond the size it is an index into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.index import beyond
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class IndexBeyondSize(Rule):
    """A number that is no action is beyond the size it is an index into.

    ## What it checks
    An index is beyond the last place of what it picks from or is turned into, and the action space of the environment
    does not have it. Where the observation space does, that is said.

    ## Why it matters
    A table, a one-hot vector or a layer was made for fewer states than there are.

    ## Likely causes
    1. The number of states was written by hand, for another map or another version of the environment. Confirm: compare
       it with `env.observation_space.n`.
    2. The index is computed from several numbers, with a wrong factor. Confirm: print its greatest value.
    3. It is counted from 1, or is -1 where nothing is meant. Confirm: the same.

    ## What to try first
    Take the size from the space: `env.observation_space.n`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.functional.one_hot`; Gymnasium, `Discrete`.
    """

    code: ClassVar[str] = "PRE470"
    name: ClassVar[str] = "index-beyond-size"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        found = beyond(evidence)
        return found is not None and not found.adds and found.of_actions is False

    def check(self, evidence: Crash) -> Iterator[Finding]:
        found = beyond(evidence)
        if found is None or not self.concerns(evidence):
            return
        name, size = found.name or "the index", "the size" if found.size is None else str(found.size)
        states = next(iter(found.fits), None)
        fits = f"; {found.index} fits {states[0]}, Discrete({states[1]})" if states else ""
        yield self.finding(
            f"{found.name or 'an index'} is {found.index}, beyond the size of {size}",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{fits}",
            expected=f"indices from 0 to {size if found.size is None else found.size - 1}",
            help=f"take the size from {states[0]}.n, which is {states[1]}, in place of {size}"
            if states
            else f"print {name} where it is made, and what {size} was taken from: one of the two is off",
            confidence=0.85 if states else 0.6,
        )
