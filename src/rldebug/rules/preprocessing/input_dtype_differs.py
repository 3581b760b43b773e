"""The network is fed another dtype than its weights have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import origin
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.signs import operands_told, told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class InputDtypeDiffers(Rule):
    """The network is fed another dtype than its weights have.

    ## What it checks
    A layer refused its input because of its dtype: float64 from NumPy, integers, bytes of an image.

    ## Why it matters
    Networks compute in float32.

    ## Likely causes
    1. The observation comes from NumPy as float64 and was not cast. Confirm: print its dtype.
    2. An image of bytes, or an index, is fed as it is. Confirm: the same.

    ## What to try first
    Cast where observations become tensors: `torch.as_tensor(obs, dtype=torch.float32)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor attributes*.
    """

    code: ClassVar[str] = "PRE402"
    name: ClassVar[str] = "input-dtype-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        weights = evidence.says(
            r"(mat1 and mat2|m1 and m2|self and mat2) (must|to) have the same dtype",
            r"expected scalar type (?!Long)\w+ but found \w+",
            r"not implemented for '(Long|Byte|Int|Short|Char|Bool)'",
            r"both arguments to linear|must have the same dtype",
        )
        typed = re.search(r"Input type \(([^)]*)\) and (?:weight|bias) type \(([^)]*)\)", evidence.message)
        return weights or (typed is not None and ("cuda" in typed[1]) == ("cuda" in typed[2]))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        layer = evidence.layer or {}
        fed = f"; a {layer['type']} was fed with {told(layer['input'])}" if layer else operands_told(evidence)
        name, others = _unlike(evidence)
        fed += f"; that is {name}" if name and layer else ""
        fed += f"; {', '.join(others)} {'are' if len(others) > 1 else 'is'} of that dtype too" if others else ""
        came = origin(evidence, evidence.at, name) if name else None
        fed += f", made in {came.place} by `{came.text}`" if came else ""
        bytes_fed = layer.get("input", {}).get("dtype") == "uint8" or evidence.says("unsigned char", r"\bByte\b")
        yield self.finding(
            "the network was fed another dtype than its weights have",
            where=at_origin(evidence, came),
            seen=f"{evidence.said}{fed}",
            expected=f"{layer['weight']['dtype']}" if layer.get("weight") else "float32",
            help=f"cast {_listed([name or 'obs', *others])} where "
            f"{'they become tensors' if others else 'it becomes a tensor'}: "
            f"torch.as_tensor({name or 'obs'}, dtype=torch.float32)"
            f"{'; an image of bytes also wants / 255' if bytes_fed else ''}",
            confidence=0.85 if layer.get("first", True) else 0.6,
        )


def _unlike(crash: Crash) -> tuple[str, list[str]]:
    """The name of what was fed, and of all else in the frame that is of the same dtype and would be refused next."""
    facts = crash.at.facts if crash.at is not None else {}
    shaped = {name: fact for name, fact in facts.items() if fact["kind"] == "tensor" and not fact.get("ops")}
    given = (crash.layer or {}).get("handed") or [(crash.layer or {}).get("input", {})]
    fed = [
        name
        for name in crash.operands()
        if name in shaped
        and any(all(shaped[name][key] == each.get(key) for key in ("shape", "dtype")) for each in given)
    ]
    if len(fed) != 1:
        return "", []
    wrong = shaped[fed[0]]["dtype"]
    others = [name for name, fact in shaped.items() if name != fed[0] and fact["dtype"] == wrong and "." not in name]
    return fed[0], others[:6] if wrong == "float64" else []


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
