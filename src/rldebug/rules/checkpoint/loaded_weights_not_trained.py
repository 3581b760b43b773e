"""Loading put new tensors into a network, and its optimizer goes on with the old ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ownership import starved
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LoadedWeightsNotTrained(Rule):
    """After loading, the optimizer steps tensors the network has lost.

    ## What it checks
    A network takes its weights from a file. At the first step of an optimizer after that, tensors that it trains, and
    that were parameters of the network when it was loaded, are no longer among the network's parameters. Or an
    optimizer that steps after the loading never finds a gradient in any of its tensors, while losses are run. Exact.

    ## Why it matters
    The optimizer moves a tensor that nobody uses; the one in its place stands still from then on. The loss does not
    tell: everything runs.

    ## Likely causes
    1. A loaded tensor is assigned to the attribute (`net.scale = nn.Parameter(saved["scale"])`) after the optimizer
       was built. Confirm: compare `id(net.scale)` with the ids in `optimizer.param_groups`.
    2. A layer is replaced after the optimizer was built. Confirm: as above.
    3. A new network is made and loaded, and the optimizer is given the parameters of the old one. Confirm: as above.

    ## What to try first
    Copy into the tensor instead of replacing it: `net.scale.data.copy_(saved["scale"])`, or build the optimizer last.

    ## When it is fine
    Never: what the optimizer steps should be what the network uses.

    ## References
    DLR-RM/stable-baselines3 issue 391 (the entropy coefficient stood still after loading).
    """

    code: ClassVar[str] = "CKP307"
    name: ClassVar[str] = "loaded-weights-not-trained"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        resumed, loads = evidence.noted("resumed"), evidence.noted("restored")
        loaded = min((int(each.get("update") or 0) for each in loads if each.get("file")), default=None)
        for name, step, count in starved(evidence) if loaded is not None else ():
            if step.update >= (loaded or 0) and _losses_since(evidence, step.update):
                yield self.finding(
                    f"after loading, {name} steps tensors that no loss leads to",
                    where=step.where,
                    seen=f"no gradient in any of its {step['of']} tensors at {count} of {count} steps",
                    expected="the tensors of the network that was loaded in its optimizer",
                    help="make the optimizer from the parameters of the network that goes on",
                    confidence=0.95,
                )
                return
        if not resumed:
            raise NotEnough("no loaded network was trained further")
        for note in resumed:
            if not note.get("lost"):
                continue
            line = note.get("line")
            yield self.finding(
                "after loading, the optimizer steps tensors that the network no longer has",
                where=Where(file=line[0], line=line[1], update=note["update"]) if line else Where(),
                seen=f"{note['lost']} of the {note['of']} tensors of {note['optimizer']} were replaced in "
                f"{note['module']} when {note['file']} was loaded",
                expected="the tensors of the network itself in its optimizer",
                help="copy into the tensors instead of replacing them, or build the optimizer after loading",
                confidence=0.95,
            )
            return


def _losses_since(script: Script, update: int) -> bool:
    """Whether losses are run, that lead to something, from there on."""
    return any(event.update >= update and event["reached"] for _, event in script.events("loss"))
