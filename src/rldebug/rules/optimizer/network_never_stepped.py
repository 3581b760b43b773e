"""A loss is run for a network whose optimizer never steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NetworkNeverStepped(Rule):
    """A loss is run for a network whose optimizer never steps.

    ## What it checks
    Losses are run that lead to a network, audit after audit. An optimizer was made for that network and never takes a
    step, while others do; and the network is the same at every audit. Exact.

    ## Why it matters
    Its gradients are computed and never used.

    ## Likely causes
    1. The loss is followed by the step of another optimizer: a line that was copied, and one name in it not changed.
       Confirm: read the lines below the loss that is named.
    2. `step()` is missing, or in a branch that is never taken. Confirm: put a print beside it.

    ## What to try first
    Step the optimizer that holds this network.

    ## When it is fine
    A network that is to be trained later, and whose loss is only looked at.

    ## References
    PyTorch, `torch.optim.Optimizer.step`.
    """

    code: ClassVar[str] = "OPT318"
    name: ClassVar[str] = "network-never-stepped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # that lead to the network
    audits: int = 2  # in which they were seen
    steps: int = 20  # of other optimizers

    def check(self, evidence: Script) -> Iterator[Finding]:
        if resumed(evidence) or evidence.noted("compile") or len(evidence.audits) < self.audits:
            raise NotEnough("too few audits, or weights came out of a file")
        taken = max((int(each.get("steps") or 0) for each in evidence.optimizers.values()), default=0)
        for name, thing in evidence.optimizers.items():
            if thing.get("steps") or taken < self.steps:
                continue
            for module in thing.get("modules") or ():
                if set(evidence.modules.get(module, {}).get("owners") or ()) != {name}:
                    continue
                own = [(a.number, each) for a, each in evidence.events("loss") if module in each["reached"]]
                own = [(number, each) for number, each in own if each["how"] == "backward" and not each.get("asked")]
                looks = [each for _, each in evidence.events("weights") if each["module"] == module]
                if len(own) < self.losses or len({number for number, _ in own}) < self.audits:
                    continue
                if len(looks) < self.audits or len({each["fingerprint"] for each in looks}) > 1:
                    continue
                yield self.finding(
                    f"{module} is never stepped: its optimizer {name} takes no step",
                    where=own[0][1].where,
                    seen=f"{len(own)} losses lead to {module}; 0 steps of {name}, {taken} of another; its weights "
                    "never changed",
                    expected=f"{name}.step() after this loss",
                    help=f"look for the step below the loss: it is to be that of {name}",
                    confidence=0.95,
                )
