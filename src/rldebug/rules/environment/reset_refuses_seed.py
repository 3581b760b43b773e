"""reset() is given a seed or options, and does not take them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import class_named
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ResetRefusesSeed(Rule):
    """reset() is given a seed or options, and does not take them.

    ## What it checks
    A call of `reset()` failed because of its keyword.

    ## Why it matters
    Runs cannot be seeded; most libraries call `reset(seed=…)`.

    ## Likely causes
    1. The environment or a wrapper was written for gym before 0.26. Confirm: look at its `reset`.
    2. A wrapper overrides `reset(self)` without passing on what it is given. Confirm: the same.

    ## What to try first
    Write `def reset(self, *, seed=None, options=None)`, and pass both on.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV405"
    name: ClassVar[str] = "reset-refuses-seed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = ("ENV024",)

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"reset\(\) (got an unexpected keyword argument|takes \d+ positional arguments?|missing \d+ required)",
            r"The `reset` method does not provide an? `(seed|options)`",
            r"`Env\.reset` can be passed (a `seed`|`options`)",
            r"The reset\(\) method must accept a `seed` parameter",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        named = re.search(r"(\w+)\.reset\(\)", evidence.message)
        keyword = re.search(r"argument:? '(\w+)'|`(seed|options)`", evidence.message)
        what = (keyword[1] or keyword[2]) if keyword else "what it is given"
        owner = named[1] if named else next((fact["type"] for _, _, fact in evidence.held("environment")), "")
        place = _defined(evidence, owner)
        missing = "missing" in evidence.message
        yield self.finding(
            f"reset(){f' of {owner}' if owner else ''} {'demands' if missing else 'does not take'} {what}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; it is defined at {place}' if place else ''}",
            expected="reset(self, *, seed=None, options=None)",
            help="write def reset(self, *, seed=None, options=None), begin with super().reset(seed=seed), and in a "
            "wrapper pass both on: self.env.reset(seed=seed, options=options)",
            confidence=0.95,
        )


def _defined(crash: Crash, owner: str) -> str:
    """`grid.py:12`, where the class is in a file of the traceback, or its environment lies in a frame."""
    if owner and (found := class_named(crash, owner)) is not None:
        file, body = found
        lines = [each.lineno for each in body.body if isinstance(each, ast.FunctionDef) and each.name == "reset"]
        return f"{Path(file).name}:{lines[0]}" if lines else ""
    return ""
