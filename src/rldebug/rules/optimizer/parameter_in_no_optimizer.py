"""Trainable parameters belong to no optimizer, and never change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rldebug.evidence.run import Reading, Run
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ParameterInNoOptimizer(Rule):
    """Trainable parameters belong to no optimizer, and never change.

    ## What it checks
    Parameters of the policy or the critic that require grad but that no watched optimizer owns. Their norm is the
    same at every detailed reading, so nobody else trains them either, while other parameters do move. If a loss
    reaches them, they were meant to be trained: an error. If it is not known what the losses reach: a warning. If no
    loss reaches them they are left alone.

    ## Why it matters
    Gradients are computed for them and thrown away. A critic, a head or a log-std that never moves caps what the rest
    can learn, and no curve says so.

    ## Likely causes
    1. The optimizer was made from one network's parameters only. Confirm: the names in the finding are a whole
       network.
    2. A layer or parameter was added, replaced or moved after the optimizer had been made. Confirm: the names are one
       layer; look for an assignment to it after the optimizer's line.
    3. Layers kept in a plain list or dict are not found by `parameters()`. Confirm: use `nn.ModuleList`.
    4. The optimizer that owns them was not handed to `rldebug.watch`, and its learning rate is 0. Confirm: hand it
       over.

    ## What to try first
    Print the number of parameters in the optimizer's groups beside that of the networks.

    ## When it is fine
    An encoder frozen by leaving it out of the optimizer: set `requires_grad_(False)` on it, or call it under
    `no_grad`.

    ## References
    PyTorch, `torch.optim` (constructing it). PyTorch, `torch.nn.ModuleList`.
    """

    code: ClassVar[str] = "OPT001"
    name: ClassVar[str] = "parameter-in-no-optimizer"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "held"
    facts: ClassVar[tuple[str, ...]] = ("parameters",)

    recordings: int = 4  # at which the parameters must be the same
    span: int = 16  # updates that these must cover

    def check(self, evidence: Run) -> Iterator[Finding]:
        audits = evidence.facts("parameters")
        if len(audits) < self.recordings or audits[-1][0].update - audits[0][0].update < self.span:
            raise NotEnough(f"the parameters were looked at {len(audits)} times, over fewer than {self.span} updates")
        if not any(series.finite.max() > 0 for series in evidence.each("step/norm") if len(series.finite)):
            return  # nothing moves at all: another rule's business
        told: list[str] = []
        for module in ("policy", "critic"):
            entries = [(reading, value["modules"][module]) for reading, value in audits if module in value["modules"]]
            if not entries or not all(entry["unowned_numel"] > 0 for _, entry in entries):
                continue
            if len({entry["unowned_fingerprint"] for _, entry in entries}) > 1:
                continue
            names = entries[-1][1]["unowned"]
            reached = self._reached(evidence, module, names)
            if (reached is None or reached) and names != told:  # one network may be both
                told = names
                yield self._report(evidence, module, entries, reached)

    def _reached(self, run: Run, module: str, names: list[str]) -> set[str] | None:
        """Losses that reach any of these parameters; None where that is not known."""
        known = False
        losses = set()
        for _, reach in run.facts("reach"):
            for loss, modules in reach.items():
                entry = modules.get(module)
                if entry is None or entry["of"] - entry["reached"] != len(entry["missing"]):
                    continue
                known = True
                if any(name not in entry["missing"] for name in names):
                    losses.add(loss)
        return losses if known else None

    def _report(
        self, run: Run, module: str, entries: list[tuple[Reading, dict[str, Any]]], losses: set[str] | None
    ) -> Finding:
        reading, entry = entries[0]
        names = entry["unowned"]
        count, of = entry["unowned_numel"], entry["trainable"]
        span = f"updates {reading.update}–{entries[-1][0].update}"
        why = (
            f"the {' and '.join(sorted(losses))} loss reaches them" if losses else "what the losses reach is not known"
        )
        return self.finding(
            f"{'all' if count == of else 'some'} parameters of the {module} are in no optimizer and never change",
            where=replace(run.call("update"), update=reading.update, env_step=reading.env_step, tensor=names[0]),
            seen=f"{count} of {of} trainable weights ({listed(names)}) are in no watched optimizer, and the same at "
            f"{len(entries)} readings, {span}; {why}",
            expected="every parameter that requires grad in exactly one optimizer",
            help=f"add the {module}'s parameters to the optimizer, after the last layer has been made",
            confidence=0.97 if losses else 0.75,
            severity="error" if losses else "warning",
        )
