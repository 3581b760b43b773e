"""A package is installed and cannot be imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import FOR_OTHER_NUMPY, Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


def _what_to_do(name: str, said: str) -> str:
    missing = re.search(r"No module named '([\w.]+)'", said)
    if missing:
        return f"install the package that has {missing[1]}, or {name} anew with all that it needs"
    library = re.search(r"(\S+\.so[.\d]*): cannot open shared object file", said)
    if library and name == "cv2":
        return "pip uninstall opencv-python, then pip install opencv-python-headless: it needs no screen"
    if library:
        return f"install the system's package that has {library[1]}"
    return f"install {name} anew, in a version for this Python and this PyTorch"


@dataclass(frozen=True, kw_only=True)
class PackageCannotBeImported(Rule):
    """A package is installed and cannot be imported.

    ## What it checks
    Each package of reinforcement learning that is installed is imported in a process of its own, and raised, died or
    hung there. Packages that are not installed are no fault.

    ## Why it matters
    A program that needs it ends at its first lines.

    ## Likely causes
    1. A package that it needs is missing, or of another version. Confirm: the message names it.
    2. A library of the system is missing. Confirm: the message names a file that ends in .so.
    3. It was compiled for another Python or another PyTorch. Confirm: the message names a symbol.

    ## What to try first
    Install what the message names; then install the package anew.

    ## When it is fine
    Where nothing that you run needs it: uninstall it.

    ## References
    Python, *The import system*.
    """

    code: ClassVar[str] = "INS708"
    name: ClassVar[str] = "package-cannot-be-imported"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = ("INS718",)

    def check(self, evidence: Machine) -> Iterator[Finding]:
        trial = evidence.trial("torch")
        if trial is not None and trial.failed and trial.stage == "importing torch":
            yield self.finding(
                "torch cannot be imported",
                seen=trial.said,
                expected="an import without an exception",
                help="pip install --force-reinstall torch; the page says what else it may be",
                confidence=0.95,
                severity="error",
            )
        for name, said in evidence.imports.items():
            if said and not FOR_OTHER_NUMPY.search(said):
                yield self.finding(
                    f"{name} is installed and cannot be imported",
                    seen=said,
                    expected="an import without an exception",
                    help=_what_to_do(name, said),
                    confidence=0.9,
                )
