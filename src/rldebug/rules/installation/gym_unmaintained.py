"""The program imports gym, which nobody maintains."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import imports
from rldebug.syntax.places import above


@dataclass(frozen=True, kw_only=True)
class GymUnmaintained(Rule):
    """The program imports gym, which nobody maintains.

    ## What it checks
    `import gym`, where the file does not import gymnasium as well. Read from the source.

    ## Why it matters
    Gym stopped in 2022. It does not know NumPy 2, and libraries of today take environments of Gymnasium only.

    ## Likely causes
    1. Code from before 2023. Confirm: read its date.

    ## What to try first
    `import gymnasium as gym`; then look at what `reset()` and `step()` return.

    ## When it is fine
    With environments that exist for gym only.

    ## References
    Gymnasium, *Migration guide*.
    """

    code: ClassVar[str] = "INS642"
    name: ClassVar[str] = "gym-unmaintained"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        if any(each.partition(".")[0] == "gymnasium" for each in imports(evidence).values()):
            return
        for node in ast.walk(evidence.tree):
            named = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                named = [node.module or ""]
            if not any(each.partition(".")[0] == "gym" for each in named):
                continue
            if not any(isinstance(each, ast.Try | ast.If) for each in above(evidence, node)):
                yield self.finding(
                    "gym is no longer maintained",
                    where=evidence.at(node),
                    seen=evidence.quoted(node),
                    expected="gymnasium",
                    help="import gymnasium as gym, and look at what reset() and step() return",
                    confidence=0.9,
                )
                return
