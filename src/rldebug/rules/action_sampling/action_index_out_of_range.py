"""An action is used as an index beyond the network's outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.index import Beyond, beyond
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionIndexOutOfRange(Rule):
    """An action is used as an index beyond the network's outputs.

    ## What it checks
    Picking the value or log-prob of an action failed: the index is beyond the last output. Where the environment is in
    reach, the index is one of its action space.

    ## Why it matters
    The network has fewer outputs than there are actions, or the numbers are no actions.

    ## Likely causes
    1. The last layer was made for another number of actions. Confirm: compare it with `env.action_space.n`.
    2. Something else was stored where actions are expected. Confirm: print the greatest index.
    3. Actions are counted from 1, or from the `start` of the space. Confirm: the same.

    ## What to try first
    Print the greatest action of the batch and the number of outputs.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.gather`.
    """

    code: ClassVar[str] = "ACT404"
    name: ClassVar[str] = "action-index-out-of-range"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        found = beyond(evidence)
        return found is not None and not found.adds and found.of_actions is not False

    def check(self, evidence: Crash) -> Iterator[Finding]:
        found = beyond(evidence)
        if found is None or not self.concerns(evidence):
            return
        known = [(name, n) for name, n in found.fits if name.endswith("action_space")]
        index = "an index" if found.index is None else f"{'action' if known else 'index'} {found.index}"
        of = f" of {found.size}" if found.size is not None else ""
        if found.index is not None and found.index < 0:
            yield self._below(evidence, found)
            return
        fits = "".join(f"; {index} fits {name}, Discrete({n})" for name, n in found.fits)
        yield self.finding(
            f"{index} is beyond the last output{of}",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{fits}",
            expected=f"indices from 0 to {'the number of outputs less 1' if found.size is None else found.size - 1}",
            help=f"make the last layer as wide as {known[0][0]}.n, which is {known[0][1]}"
            if known
            else f"print {found.name or 'the index'}.min() and .max(); if it is an action, compare the last layer with "
            "env.action_space.n",
            confidence=0.8 if known else 0.6,
        )

    def _below(self, evidence: Crash, found: Beyond) -> Finding:
        """-1 of {-1, 0, 1}: the action itself, rather than its place among the outputs."""
        name = found.name or "the index"
        span = evidence.operands().get(found.name, {}).get("span")
        size = found.size
        same = span and size and span[1] - span[0] < size and span[1] < size
        runs = f"; {name} runs from {span[0]} to {span[1]}" if span else ""
        return self.finding(
            f"{found.name or 'an index'} holds {found.index}, below the first output",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{runs}",
            expected=f"indices from 0 to {'the number of outputs less 1' if size is None else size - 1}",
            help=f"store which output was chosen, from 0 to {size - 1}, and not the action that it stands for"
            if same and size
            else f"look for what puts {found.index} into {name}: a filling of unused places, or an action that "
            "is not the number of an output",
            confidence=0.7,
        )
