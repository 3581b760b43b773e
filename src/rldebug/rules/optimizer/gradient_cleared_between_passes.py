"""Gradients are cleared between the backward passes of one step."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import Update, cleared, held, updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientClearedBetweenPasses(Rule):
    """Gradients are cleared between the backward passes of one step.

    ## What it checks
    What happens between two steps of an optimizer, in order. The same line runs several backward passes through the
    same networks, as one does to accumulate gradients over parts of a batch; and gradients are cleared between them.
    Or they are cleared after the last pass, just before the step. Steps in between, of any optimizer, are no case of
    it. Exact.

    ## Why it matters
    Only the last part of the batch is learned from, at a fraction of its weight; or nothing at all.

    ## Likely causes
    1. `zero_grad()` stands inside the loop over the parts. Confirm: compare its indentation with that of `step()`.
    2. `zero_grad()` stands between `backward()` and `step()`. Confirm: read the line that is named.

    ## What to try first
    Clear once for each step, before the first backward pass.

    ## When it is fine
    Where gradients of each pass are taken out of `.grad` and combined by hand.

    ## References
    PyTorch, `torch.optim.Optimizer.zero_grad`.
    Seen in the wild: OPT-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "OPT304"
    name: ClassVar[str] = "gradient-cleared-between-passes"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    updates: int = 4  # steps that were seen with what came before them
    share: float = 0.75  # of them that show it

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, updates in updates_of(evidence).items():
            own = held(evidence, name)
            whole = [each for each in updates if any(_feeds(loss, own) for loss in each.of("loss"))]
            if len(whole) < self.updates:
                continue
            judged = True
            # Not every loss is looked into: only where a line was seen twice is there anything to see.
            several = [each for each in whole if _repeats([x for x in each.of("loss") if _feeds(x, own)])]
            between = [(each, zero) for each in several if (zero := self._between(evidence, each, own)) is not None]
            unused = [(each, zero) for each in whole if (zero := self._unused(evidence, each, own)) is not None]
            if len(unused) >= self.share * len(whole):
                yield self._report(name, unused, len(whole), "gradients are cleared before the step can use them")
            elif len(between) >= max(self.updates, self.share * len(several)) and self._often(evidence, whole, own):
                yield self._report(name, between, len(several), "gradients are cleared between the passes of one step")
        if not judged:
            raise NotEnough(f"no optimizer was seen in {self.updates} steps together with its losses")

    def _report(self, name: str, found: list[tuple[Update, Event]], of: int, message: str) -> Finding:
        update, zero = found[0]
        passes = len(update.of("loss"))
        return self.finding(
            message,
            where=zero.where,
            seen=f"before {len(found)} of {of} steps of optimizer {name}; {passes} losses before the first of them",
            expected="gradients cleared once for each step, before the first backward pass",
            help="move zero_grad() out of the loop over the parts, above the first backward()",
            confidence=0.9,
        )

    def _between(self, script: Script, update: Update, own: frozenset[str]) -> Event | None:
        """backward, cleared, backward again by the same line, step; and no other step in between the first two."""
        since: set[tuple[object, ...]] = set()  # losses since gradients were cleared
        lost: set[tuple[object, ...]] = set()  # losses whose gradients were cleared
        zero: Event | None = None
        found: Event | None = None
        for each in update.before:
            if each.kind == "step":
                since = set()  # it may have used them
            elif each.kind == "zero" and self._clears(script, each, update, own):
                lost, since, zero = lost | since, set(), each
            elif each.kind == "loss" and _feeds(each, own) and each["how"] == "backward" and each.get("line"):
                key = (*each["line"], *each["reached"])
                found = zero if key in lost else found
                since.add(key)
        return found

    def _often(self, script: Script, updates: list[Update], own: frozenset[str]) -> bool:
        """Whether it is the rule. A step that is left out now and then leaves a gradient to be cleared, too."""
        seen = [each for each in updates if not each.first]  # of the first of an audit the beginning may be missing
        seen = seen if len(seen) >= self.updates else updates
        times = [sum(self._clears(script, zero, each, own) for zero in each.of("zero")) for each in seen]
        return sorted(times)[len(times) // 4] >= 2

    def _unused(self, script: Script, update: Update, own: frozenset[str]) -> Event | None:
        """The last thing before the step is that its gradients are cleared, and it finds none."""
        norm = update.step.get("grad_norm")
        if norm is not None and norm != 0.0:
            return None
        for each in reversed(update.before):
            if each.kind == "zero" and self._clears(script, each, update, own):
                return each
            if each.kind == "loss" and _feeds(each, own):
                return None
        return None

    def _clears(self, script: Script, zero: Event, update: Update, modules: Set[str]) -> bool:
        if zero.get("optimizer") == update.step["optimizer"]:
            return True
        return bool(modules) and cleared(script, zero) >= modules


def _feeds(loss: Event, own: frozenset[str]) -> bool:
    """Whether a loss leads to the networks of an optimizer. Parameters may also be on no network at all."""
    return bool(set(loss["reached"]) & own) or not (own or loss["reached"])


def _repeats(losses: list[Event]) -> bool:
    lines = [tuple(each["line"]) for each in losses if each.get("line")]
    return len(set(lines)) < len(lines)
