"""The evaluation plays a network that never gets the trained weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import owned
from rldebug.forensics.roles import roles_of
from rldebug.forensics.weights import looks, prints
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluatedCopyNotUpdated(Rule):
    """The evaluation plays a copy that is not kept up to date.

    ## What it checks
    The networks that act in environments that are never learned from. None of them is owned by an optimizer; they have
    the shapes of a trained one, but other weights, which are the same in two evaluations between which that one has
    learned, and nothing is ever loaded or copied into them; but for a copy that was made before training.

    ## Why it matters
    The evaluation measures the untrained policy, whatever is learned.

    ## Likely causes
    1. A copy is made once, before training. Confirm: print one weight of both at the end.
    2. A second network is made for the evaluation, and never loaded. Confirm: look for its `load_state_dict`.

    ## What to try first
    Evaluate the network that is trained, or load its weights before each evaluation.

    ## When it is fine
    A fixed opponent or baseline that is measured by itself. Where the trained network plays too, nothing is said.

    ## References
    Seen in the wild: TGT-17 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EVA303"
    name: ClassVar[str] = "evaluated-copy-not-updated"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 10  # of the evaluation
    apart: float = 1e-3  # relative distance of the weights
    audits: int = 2  # with an evaluation, between which the trained network had learned

    def check(self, evidence: Script) -> Iterator[Finding]:
        calls = evaluation_calls(evidence)
        if len(calls) < self.steps:
            raise NotEnough(f"networks were seen to act in {len(calls)} steps of an evaluation")
        modules = {each.module for each in calls}
        if any(owned(evidence, each) or evidence.modules.get(each, {}).get("inside") for each in modules):
            return
        roles = roles_of(evidence)
        trained = roles.policy | roles.q
        for module in sorted(modules):
            seen = [event for _, event in evidence.events("weights") if event["module"] == module]
            if len(set(prints(evidence, module))) != 1 or self._written(evidence, module):
                continue
            played = {each.audit.number for each in calls if each.module == module}
            for twin in sorted(trained):
                far = [float(event["distance"][twin]) for event in seen if twin in (event.get("distance") or {})]
                # A copy that is filled before each evaluation stays as it is between two, too.
                learned = {each for number, each in looks(evidence, twin).items() if number in played}
                if len(learned) < self.audits or not far or far[-1] < self.apart or not owned(evidence, twin):
                    continue
                call = next(each for each in calls if each.module == module)
                yield self.finding(
                    "the evaluation plays a network that never gets the trained weights",
                    where=call.event.where,
                    seen=f"{module} acts in the evaluation and stays as it was made; {twin}, of the same shapes, is "
                    f"trained, and is {far[-1]:.2g} away from it by now",
                    expected="the trained weights",
                    help=f"evaluate {twin}, or load its weights before each evaluation",
                    confidence=0.9,
                )
                return

    def _written(self, script: Script, module: str) -> bool:
        """By anything but the network that is trained, before training."""
        copies = [each for each in script.things.get("copy", {}).values() if str(each.get("module")) == module]
        told = bool(copies) and all(
            each.get("source") in script.modules and not any(each.get("updates") or (1,)) for each in copies
        )
        if copies and not told:
            return True
        if any(each["module"] == module and not (told and not each.update) for _, each in script.events("copy")):
            return True
        notes = [each for each in (*script.noted("restored"), *script.noted("load")) if each.get("module") == module]
        return any(not (told and not each.get("update")) for each in notes)
