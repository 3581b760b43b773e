"""A file of the program's own cannot be imported as it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.imports import OwnImport, own_import
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OwnImportFails(Rule):
    """A file of the program's own cannot be imported as it is asked for.

    ## What it checks
    An import failed, and what it asked for is a file of the user's own: it lies in another folder, two files import one
    another, a relative import was run as a script, or a file bears the name of a library.

    ## Why it matters
    No package is missing: to install one of that name would bring a stranger's code.

    ## Likely causes
    1. The program is begun in another folder than its imports are written for. Confirm: print `sys.path`.
    2. Two files import names from one another. Confirm: follow the imports in the traceback.
    3. A file of a package was run as a script. Confirm: look for `from .` in it.
    4. A file of yours is called `random.py`, `gym.py` or like another library. Confirm: print the module's `__file__`.

    ## What to try first
    Begin the program from the folder that holds its packages, with `python -m`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *The import system*.
    """

    code: ClassVar[str] = "EVA461"
    name: ClassVar[str] = "own-import-fails"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return own_import(evidence) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        failed = own_import(evidence)
        if failed is None:
            return
        message, help = _told(failed, evidence)
        yield self.finding(
            message,
            where=evidence.where,
            seen=evidence.said,
            expected="imports that lead to the program's own files",
            help=help,
            confidence=0.9,
        )


def _told(failed: OwnImport, crash: Crash) -> tuple[str, str]:
    file = _short(failed.file)
    if failed.kind == "hides":
        return (
            f"{file} hides the library {failed.module}",
            f"rename {file}, delete its __pycache__, and correct the imports of it",
        )
    if failed.kind == "relative":
        return (
            "a file with a relative import was run as if it were no part of a package",
            "run it as a module from the folder above its package, python -m package.module, or import by full name",
        )
    if failed.kind == "circular":
        return (
            f"{failed.module} is imported while it is itself being imported: two files import one another",
            "move what both need into a third file, or the import into the function that uses it",
        )
    if failed.kind == "no such name":
        return f"{file} has no {failed.name}", f"correct the name, or define {failed.name} in {file}"
    folder = _short(str(_root(failed)))
    script = Path(crash.own[0].file).name if crash.own else "train.py"
    return (
        f"{failed.module} is your own, and lies in another folder than it is looked for in",
        f"it is {file}: begin the program from {folder}, with PYTHONPATH=. python …/{script} or python -m",
    )


def _root(failed: OwnImport) -> Path:
    """The folder from which the module can be imported by the name that was asked for."""
    path = Path(failed.file)
    path = path.parent if path.name == "__init__.py" else path
    return path.parents[failed.module.count(".")]


def _short(file: str) -> str:
    path = os.path.relpath(file) if file else ""
    return file if path.startswith("..") else path
