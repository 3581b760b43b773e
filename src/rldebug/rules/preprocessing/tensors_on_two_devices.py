"""Tensors that meet lie on different devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash, Frame
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TensorsOnTwoDevices(Rule):
    """Tensors that meet lie on different devices.

    ## What it checks
    PyTorch refused to bring together tensors of two devices. The one that lies elsewhere than the network, or was left
    on the CPU, is named, and the line that made it.

    ## Why it matters
    Data comes from the environment on the CPU; the network may lie elsewhere.

    ## Likely causes
    1. Observations or a batch are not moved to the network's device. Confirm: print `.device` of both.
    2. A constant, as a scale or the atoms of a distribution, is a plain attribute of a module, which `.to(device)` does
       not move. Confirm: it is not in `module.state_dict()`.
    3. A tensor is made in the loop without `device=`: a mask, an index, a hidden state. Confirm: the same.

    ## What to try first
    Move data to the device where it becomes a tensor; register the constants of a module with `register_buffer`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *CUDA semantics*; `torch.nn.Module.register_buffer`.
    """

    code: ClassVar[str] = "PRE406"
    name: ClassVar[str] = "tensors-on-two-devices"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        typed = re.search(r"Input type \(([^)]*)\) and (?:weight|bias) type \(([^)]*)\)", evidence.message)
        apart = typed is not None and ("cuda" in typed[1]) != ("cuda" in typed[2])
        return apart or evidence.says(
            "Expected all tensors to be on the same device",
            "is not on the expected device",
            "tensors to be on same device",
            "not at the same device",
            r"indices should be either on \S+ or on the same device as the indexed tensor",
            r"Expected a '\w+' device type for generator but found",
            r"[Pp]laceholder storage has not been allocated on MPS device",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        odd = _odd_one(evidence)
        if odd is None:
            yield self.finding(
                "tensors of two devices meet",
                where=evidence.where,
                seen=f"{evidence.said}{operands_told(evidence)}",
                expected="all of them on one device",
                help="move data to the network's device where it becomes a tensor: .to(device); "
                "register the constants of a module with register_buffer()",
                confidence=0.75,
            )
            return
        frame, name, here, there = odd
        origin = bound(evidence, frame, name)
        plain = frame.owner == "network" and name.startswith("self.") and origin is not None and origin.within
        came = f", made in {origin.place} by `{origin.text}`" if origin else ""
        attribute = name.removeprefix("self.")
        yield self.finding(
            f"the tensor {name} lies on {here}, what it meets on {there}",
            where=replace(evidence.where, tensor=name),
            seen=f"{name} lies on {here}{came}; {evidence.said}",
            expected=f"all of them on {there}",
            help=f'{name} is a plain attribute, which module.to(device) does not move: write self.register_buffer("'
            f'{attribute}", …)'
            if plain
            else f"write {name}.to({_same_device(evidence, there)}), or make it there: device=…",
            confidence=0.9,
        )


def _odd_one(crash: Crash) -> tuple[Frame, str, str, str] | None:
    """The tensor that lies elsewhere than the rest: its frame, its name, its device, and the other one."""
    if crash.at is None:
        return None
    placed = {name: str(fact["device"]) for name, fact in crash.operands().items() if fact.get("device")}
    tensors = [name for name, fact in crash.operands().items() if fact["kind"] == "tensor"]
    right = _wanted(crash, placed)
    elsewhere = [name for name in tensors if placed[name] != right]
    if not right or len(elsewhere) != 1:
        return None
    return crash.at, elsewhere[0], placed[elsewhere[0]], right


def _wanted(crash: Crash, placed: dict[str, str]) -> str:
    """The device to be on: of the network in the line, or of the layer that was called; else the one that is no CPU."""
    networks = {str(fact["device"]) for fact in crash.operands().values() if _learns(fact)}
    if crash.layer and crash.layer["weight"].get("device"):
        networks = {str(crash.layer["weight"]["device"])}
    if len(networks) == 1:
        return networks.pop()
    others = {device for device in placed.values() if device != "cpu"}
    return others.pop() if len(others) == 1 else ""


def _learns(fact: Fact) -> bool:
    return bool(fact.get("device")) and (fact["kind"] == "network" or bool(fact.get("ops")) or bool(fact.get("leaf")))


def _same_device(crash: Crash, there: str) -> str:
    """A name for the device: that of another tensor in the line, where there is one."""
    for name, fact in crash.operands().items():
        if fact["kind"] == "tensor" and str(fact["device"]) == there:
            return f"{name}.device"
    return f'"{there}"' if "meta" not in there else "device"
