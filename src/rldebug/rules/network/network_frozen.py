"""A network that an optimizer holds is frozen, all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import around, owned
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NetworkFrozen(Rule):
    """A network that an optimizer holds is frozen, all of it.

    ## What it checks
    No parameter of a network requires a gradient, though an optimizer was given all of them and steps; at every audit
    the weights are the same. Networks that came out of a file, were copied to, or were reached by an earlier loss are
    left alone, and so is one that gives features to another that is trained. Exact.
    A note where the optimizer holds others that do learn.

    ## Why it matters
    It never learns.

    ## Likely causes
    1. `requires_grad_(False)` was meant for the target network. Confirm: search for it.
    2. The network is frozen for one loss and not thawed again. Confirm: the same.
    3. It was made under `torch.no_grad()` or `inference_mode()`. Confirm: `next(net.parameters()).requires_grad`.

    ## What to try first
    `net.requires_grad_(True)`.

    ## When it is fine
    A network that is to stay as it is needs no optimizer.

    ## References
    PyTorch, `torch.nn.Module.requires_grad_`.
    """

    code: ClassVar[str] = "NET304"
    name: ClassVar[str] = "network-frozen"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    audits: int = 2  # at which it was the same
    steps: int = 20  # of its optimizer

    def check(self, evidence: Script) -> Iterator[Finding]:
        if resumed(evidence) or len(evidence.audits) < self.audits:
            raise NotEnough(f"fewer than {self.audits} audits, or weights came out of a file")
        reached = {name for _, each in evidence.events("loss") for name in each["reached"]}
        for name, thing in evidence.modules.items():
            owners, tensors = thing.get("owners") or {}, int(thing.get("tensors") or 0)
            if thing.get("trainable") or not tensors or name in reached or max(owners.values(), default=0) < tensors:
                continue
            if self._on_purpose(evidence, name, {each for each, held in owners.items() if held >= tensors}):
                continue
            steps = max(int(evidence.optimizers.get(each, {}).get("steps") or 0) for each in owners)
            looks = [each for _, each in evidence.events("weights") if each["module"] == name]
            if steps < self.steps or len(looks) < self.audits or len({each["fingerprint"] for each in looks}) > 1:
                continue
            line = thing.get("line")
            # Beside what learns it may be meant to stay: a random prior, features, what another program has trained.
            alone = all(_holds_nothing_else(evidence.optimizers.get(each, {})) for each in owners)
            yield self.finding(
                f"{name} is frozen: none of its parameters requires a gradient",
                where=Where(file=line[0], line=line[1]) if line else None,
                seen=f"{tensors} tensors, all in an optimizer that took {steps} steps; the same at {len(looks)} looks",
                expected="parameters that require a gradient",
                help=f"look for requires_grad_(False): it was meant for another network than {name}",
                confidence=0.95 if alone else 0.5,
                severity="error" if alone else "note",
            )

    def _on_purpose(self, script: Script, name: str, owners: set[str]) -> bool:
        """Whether it was trained before, was given its weights, or gives features to one that is trained.

        Losses may have reached it under the name of the network that it is a part of, and all of that."""
        whole = around(script, name)
        looked = {audit.number for audit, event in script.events("weights") if event["module"] == name}
        if not any(step["optimizer"] in owners and audit.number in looked for audit, step in script.events("step")):
            return True  # what trained it has done with it
        for _, loss in script.events("loss"):
            reached = [script.modules[each] for each in loss["reached"] if each in script.modules]
            tensors = sum(int(each.get("tensors") or 0) for each in reached)
            if whole & set(loss["reached"]) and 0 < tensors <= int(loss.get("parameters") or 0):
                return True
        if any(each.get("module") in whole for each in script.things.get("copy", {}).values()):
            return True
        calls = [each for _, each in script.events("call")]
        given = {_shape(each.get("outputs")) for each in calls if each["module"] == name} - {()}
        return any(
            each["match"] == "tag" and each["grad"] and _shape(each.get("inputs")) in given
            for each in calls
            if each["module"] != name and owned(script, str(each["module"]))
        )


def _holds_nothing_else(optimizer: Mapping[str, Any]) -> bool:
    return int(optimizer.get("frozen") or 0) >= int(optimizer.get("tensors") or 0)


def _shape(tensors: Any) -> tuple[int, ...]:
    return tuple(tensors[0]["shape"]) if tensors else ()
