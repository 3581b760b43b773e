"""A name is used that Gymnasium no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import dotted, imports
from rldebug.syntax.places import above, parents

_NEVER = {"gymnasium.wrappers.Monitor": "RecordVideo"}
_LATER = {
    "gym.wrappers.Monitor": "RecordVideo",
    "gymnasium.wrappers.FrameStack": "FrameStackObservation",
    "gymnasium.wrappers.GrayScaleObservation": "GrayscaleObservation",
    "gymnasium.wrappers.AutoResetWrapper": "Autoreset",
    "gymnasium.wrappers.PixelObservationWrapper": "AddRenderObservation",
    "gymnasium.vector.make": "gymnasium.make_vec",
    "gymnasium.vector.VectorEnvWrapper": "VectorWrapper",
}


@dataclass(frozen=True, kw_only=True)
class NameRemovedFromGymnasium(Rule):
    """A name is used that Gymnasium no longer has.

    ## What it checks
    `Monitor`, which was never in Gymnasium; and names that later versions lack, which are worth a note: `FrameStack`,
    `GrayScaleObservation`, `gymnasium.vector.make` since Gymnasium 1.0, `gym.wrappers.Monitor` since Gym 0.26. Read
    from the source.

    ## Why it matters
    The line ends the program as soon as it is reached.

    ## Likely causes
    1. Code written for an older version. Confirm: `python -c 'import gymnasium; print(gymnasium.__version__)'`.

    ## What to try first
    The new name; its arguments may differ.

    ## When it is fine
    With an old version that is pinned.

    ## References
    Gymnasium, *Release notes*: v1.0.0.
    """

    code: ClassVar[str] = "INS643"
    name: ClassVar[str] = "name-removed-from-gymnasium"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("INS402",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node, name in _named(evidence):
            instead = _NEVER.get(name) or _LATER.get(name)
            if instead is None or any(isinstance(each, ast.Try) for each in above(evidence, node)):
                continue
            since = "" if name in _NEVER else " in later versions"
            yield self.finding(
                f"{name} is not there{since}",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected=instead,
                help=f"{instead}; look at its arguments",
                confidence=0.9 if name in _NEVER else 0.8,
                severity=None if name in _NEVER else "note",
            )


def _named(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Every import of a name from a library, and every name that is reached by dots, in full."""
    known = imports(source)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Attribute) and not isinstance(parents(source).get(node), ast.Attribute):
            first, _, rest = dotted(node).partition(".")
            if first in known:
                yield node, f"{known[first]}.{rest}"
