"""Updates go by and an optimizer takes no step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerNeverSteps(Rule):
    """Updates go by and an optimizer takes no step.

    ## What it checks
    Update after update is handed over, but a watched optimizer's `step()` was not called once. If that optimizer
    holds parameters of the policy or the critic, or is the only one, it is an error; else a note.

    ## Why it matters
    Losses and gradients are computed and nothing moves.

    ## Likely causes
    1. `optimizer.step()` is missing, or is in a branch that is never taken. Confirm: put a print beside it.
    2. The optimizer that steps is another object: it is made anew in every iteration, or after `rldebug.watch` was
       called. Confirm: compare `id(optimizer)` at both places. One that is made anew also forgets its running
       averages.
    3. A gradient scaler skips every step because the gradients are never finite. Confirm: `scaler.get_scale()` falls.
    4. The loop steps after more updates than the run has: accumulation, a delay, a warm-up. Confirm: count them.

    ## What to try first
    Search the loop for `.step()`, and see that it is this optimizer's.

    ## When it is fine
    A second optimizer that a switch turns off, such as that of a fixed temperature: a note.

    ## References
    PyTorch, `torch.optim` (taking an optimization step).
    """

    code: ClassVar[str] = "OPT007"
    name: ClassVar[str] = "optimizer-never-steps"
    severity: ClassVar[Severity] = "error"

    updates: int = 32  # handed over
    readings: int = 64  # without a step among them, where the run's own count of steps is not known yet

    def check(self, evidence: Run) -> Iterator[Finding]:
        optimizers = evidence.meta.get("optimizers") or {}
        handed = [
            each for each in evidence.readings if any(name.startswith(("batch/", "loss/")) for name in each.numbers)
        ]
        if not optimizers:
            raise NotEnough("no optimizer was handed over")
        if not handed or evidence.updates < self.updates:
            raise NotEnough(f"fewer than {self.updates} updates were handed over")
        steps = evidence.meta.get("steps")
        if steps is None and len(handed) < self.readings:
            raise NotEnough(f"{len(handed)} updates were recorded while the run goes on, needs {self.readings}")
        broken = evidence.meta.get("broken") or {}
        owners: dict[str, int] = {}
        for _, audit in evidence.facts("parameters"):
            for module in ("policy", "critic"):
                for name, owned in audit["modules"].get(module, {}).get("owners", {}).items():
                    owners[name] = max(owners.get(name, 0), owned)
        for name in optimizers:
            suffix = f"@{name}" if len(optimizers) > 1 else ""
            if f"step/norm{suffix}" in evidence.series or f"optimizer hook {name}" in broken:
                continue
            if steps is not None and steps.get(name, 0) > 0:
                continue
            needed = len(optimizers) == 1 or owners.get(name, 0) > 0
            if not needed and evidence.meta.get("state") == "crashed":
                continue  # the program may just not have come to it
            yield self.finding(
                f"optimizer {name} never takes a step" if suffix else "the optimizer never takes a step",
                where=evidence.call("update"),
                seen=f"{evidence.updates} updates handed over, 0 steps of {optimizers[name]} {name}"
                + (f", which holds {owners[name]} weights of the networks" if owners.get(name) else ""),
                expected="a step in every update, or in every few",
                help="call step() on this very optimizer after backward(); it must not be made anew inside the loop",
                confidence=0.97 if steps is not None else 0.8,
                severity="error" if needed else "note",
            )
