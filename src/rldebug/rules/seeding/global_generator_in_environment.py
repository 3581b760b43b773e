"""An environment draws from the global random generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.names import library

_OWN = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "Random", "SystemRandom", "seed"})


@dataclass(frozen=True, kw_only=True)
class GlobalGeneratorInEnvironment(Rule):
    """An environment draws from the global random generator.

    ## What it checks
    A method of a class that inherits from `gymnasium.Env` or a wrapper calls `np.random.…` or `random.…`. Read from
    the source.

    ## Why it matters
    `reset(seed=…)` does not govern what is drawn there, and anything else that draws changes it. Episodes cannot be
    repeated, and in worker processes that were forked every copy draws the same numbers.

    ## Likely causes
    1. `self.np_random` was meant. Confirm: reset twice with one seed and compare.

    ## What to try first
    `self.np_random.integers(…)`, `self.np_random.random()`, after `super().reset(seed=seed)`.

    ## When it is fine
    Where the program seeds the global generator of each process and never needs single episodes again.

    ## References
    SEE-05 of bench/bugs. Gymnasium, *Env.np_random*.
    """

    code: ClassVar[str] = "SEE605"
    name: ClassVar[str] = "global-generator-in-environment"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE003", "SEE002")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            if class_kind(evidence, owner) != "env":
                continue
            inside = [each for each in ast.walk(owner) if isinstance(each, ast.Call)]
            drawn = [each for each in inside if _global(library(evidence, each))]
            if drawn:
                more = f", and {len(drawn) - 1} more" if len(drawn) > 1 else ""
                yield self.finding(
                    f"the environment {owner.name} draws from the global generator: reset(seed=…) does not govern it",
                    where=evidence.at(drawn[0]),
                    seen=f"{evidence.quoted(drawn[0])}{more}",
                    expected="self.np_random, which reset(seed=…) seeds",
                    help=f"self.np_random in place of {evidence.quoted(drawn[0].func).rpartition('.')[0] or 'random'}",
                    confidence=0.85,
                )


def _global(name: str) -> bool:
    package, _, last = name.rpartition(".")
    return package in ("numpy.random", "random") and last not in _OWN
