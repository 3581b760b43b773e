"""A network is stepped by two optimizers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ParameterInTwoOptimizers(Rule):
    """A network is stepped by two optimizers.

    ## What it checks
    Parameters that are in the groups of more than one watched optimizer. It is a warning where a whole network is
    owned twice and both optimizers step in the same updates, and a note where it is a part, such as a shared trunk, or
    where each of the two also holds parameters that the other does not, such as its own head on that trunk.

    ## Why it matters
    Each optimizer steps on whatever gradient it finds: the same gradient is applied twice, or that of one loss by the
    optimizer meant for the other, with two sets of running averages that do not know of each other.

    ## Likely causes
    1. The actor's optimizer was made from the parameters of the whole agent, the critic's from the critic's. Confirm:
       the names in the finding are all of one network's.
    2. One network is handed to both optimizers. Confirm: all its parameters are named.
    3. A trunk is shared on purpose, and each optimizer holds it. Confirm: only the trunk's parameters are named; one
       optimizer with one summed loss is the usual form.

    ## What to try first
    Give each parameter to one optimizer; build the groups from the two networks, not from the agent.

    ## When it is fine
    Phases that take turns, each with an optimizer of its own; an encoder with an auxiliary loss and optimizer.

    ## References
    PyTorch, `torch.optim` (per-parameter options). Cobbe et al., *Phasic Policy Gradient*.
    """

    code: ClassVar[str] = "OPT002"
    name: ClassVar[str] = "parameter-in-two-optimizers"
    severity: ClassVar[Severity] = "warning"
    facts: ClassVar[tuple[str, ...]] = ("parameters",)
    follows: ClassVar[tuple[str, ...]] = ("OPT308",)

    together: float = 0.5  # share of the rarer optimizer's steps at which the other one steps too

    def check(self, evidence: Run) -> Iterator[Finding]:
        audits = [(reading, value) for reading, value in evidence.facts("parameters") if value["twice"]]
        if not audits:
            return
        reading, audit = audits[0]
        whole = [
            (module, owners)
            for module, entry in audit["modules"].items()
            if module != "target"
            and entry["trainable"] > 0
            and len(owners := [name for name, owned in entry["owners"].items() if owned >= entry["trainable"]]) > 1
            and self._step_together(evidence, owners)
            and not all(audit.get("alone", {}).get(name) for name in owners)
        ]
        owners = whole[0][1] if whole else audit["twice_owners"]
        count = f"{len(audit['twice'])}{'+' if len(audit['twice']) == 16 else ''}"
        yield self.finding(
            f"the {whole[0][0]} is stepped by two optimizers" if whole else "some parameters are in two optimizers",
            where=replace(evidence.call("update"), update=reading.update, tensor=audit["twice"][0]),
            seen=f"{count} parameter tensors ({listed(audit['twice'])}) are in {' and in '.join(owners)}",
            expected="every parameter in exactly one optimizer",
            help="build each optimizer from its own network's parameters",
            confidence=0.9,
            severity="warning" if whole else "note",
        )

    def _step_together(self, run: Run, owners: list[str]) -> bool:
        steps = [set(run[f"step/norm@{name}"].update.tolist()) for name in owners]
        fewest = min(steps, key=len)
        return bool(fewest) and all(len(fewest & each) >= self.together * len(fewest) for each in steps)
