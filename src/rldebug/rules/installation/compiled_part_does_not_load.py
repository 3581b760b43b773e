"""The compiled part of a library does not load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_NEEDS = {"torchrl": "replay buffers with priorities"}


@dataclass(frozen=True, kw_only=True)
class CompiledPartDoesNotLoad(Rule):
    """The compiled part of a library does not load.

    ## What it checks
    TorchRL and tensordict carry a part in C++; whether it can be imported with the installed PyTorch.

    ## Why it matters
    The library imports all the same. What needs the part fails later: in TorchRL, replay buffers with priorities.

    ## Likely causes
    1. It was compiled for another PyTorch. Confirm: the message names an undefined symbol, and the library the PyTorch
       it was built with.
    2. It was built on a system with newer libraries. Confirm: the message names GLIBC or GLIBCXX.

    ## What to try first
    Install the PyTorch that it was built with, or build the library here.

    ## When it is fine
    Where nothing that you use needs the part.

    ## References
    TorchRL, *Versioning issues*.
    """

    code: ClassVar[str] = "INS713"
    name: ClassVar[str] = "compiled-part-does-not-load"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        for name, said in evidence.extensions.items():
            if not said:
                continue
            package, torch = evidence.package(name), evidence.package("torch")
            built = re.search(r"built with PyTorch ([\d.]+)", said)
            yield self.finding(
                f"the compiled part of {name} does not load with this PyTorch",
                seen=f"{name} {package.version if package else ''}, PyTorch {torch.version if torch else ''}: {said}",
                expected="an import without an exception",
                help=(
                    f"pip install 'torch=={built[1]}'" if built else f"install the PyTorch that {name} was built with"
                )
                + f"; or a {name} that was built with yours; or do without {_NEEDS.get(name, 'what needs it')}",
                confidence=0.95,
            )
