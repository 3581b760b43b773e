"""An optimizer trains the target network."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule

_GRADIENT, _STEP = 0, 3  # columns of the table `parameters`: grad_norm and step_norm


@dataclass(frozen=True, kw_only=True)
class TargetTrainedByOptimizer(Rule):
    """An optimizer trains the target network.

    ## What it checks
    Parameters of the target network are in an optimizer, and its steps change them. Exact; one update is enough. If
    they are in an optimizer but never get a gradient, nothing happens to them, and that is only a note.

    ## Why it matters
    The target network is to be a delayed copy. Trained by gradient descent it is moved to where the loss is smallest:
    targets come down to meet the predictions instead of the other way round.

    ## Likely causes
    1. The optimizer was made from a module that holds both networks. Confirm: `optimizer.param_groups`; pass the online
       network's parameters only.
    2. The target's forward pass is not under `torch.no_grad()`, so it gets gradients. Confirm: `.grad` of its weights.

    ## What to try first
    Make the optimizer from the online network's parameters only.

    ## When it is fine
    Parameters that target and online network share are trained for the online network's sake and are not counted.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT003"
    name: ClassVar[str] = "target-trained-by-optimizer"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("parameters",)

    def check(self, evidence: Run) -> Iterator[Finding]:
        for reading, fact in evidence.facts("parameters"):
            target: dict[str, Any] = fact.get("modules", {}).get("target", {})
            owners = {name: size for name, size in target.get("owners", {}).items() if size}
            if not owners or not target.get("trainable"):
                continue
            moved, pushed, seen = self._rows(evidence)
            if seen and not pushed:
                yield self._note(owners, target, replace(evidence.call("update"), update=reading.update))
            elif moved:
                names = ", ".join(moved[:3]) + (" …" if len(moved) > 3 else "")
                yield self.finding(
                    "an optimizer trains the target network",
                    where=replace(evidence.call("update"), update=reading.update, env_step=reading.env_step),
                    seen=f"optimizer {', '.join(owners)} owns {sum(owners.values())} of the target's "
                    f"{target['numel']} parameters, and its steps change {names}",
                    expected="none: only copying changes a target network",
                    help="make the optimizer from the online network's parameters only",
                    confidence=0.99,
                )
            return

    def _rows(self, run: Run) -> tuple[list[str], list[str], int]:
        """Of the target's own parameters, those that steps changed, those that had a gradient, and how many were seen.

        What the target shares with another network goes by the other's name.
        """
        moved: dict[str, None] = {}
        pushed: dict[str, None] = {}
        seen = set()
        for reading in run.readings:
            for table, rows in reading.tables.items():
                if table.partition("@")[0] != "parameters":
                    continue
                for name, cells in rows.items():
                    if name.startswith("target."):
                        seen.add(name)
                        if math.isfinite(cells[_GRADIENT]) and cells[_GRADIENT] > 0:
                            pushed[name] = None
                            if cells[_STEP] > 0:
                                moved[name] = None
        return list(moved), list(pushed), len(seen)

    def _note(self, owners: dict[str, int], target: dict[str, Any], where: Where) -> Finding:
        return self.finding(
            "the target network's parameters are in an optimizer",
            where=where,
            seen=f"optimizer {', '.join(owners)} owns {sum(owners.values())} of the target's {target['numel']} "
            "parameters; none had a gradient",
            expected="none of them in an optimizer",
            help="make the optimizer from the online network's parameters only",
            confidence=0.9,
            severity="note",
        )
