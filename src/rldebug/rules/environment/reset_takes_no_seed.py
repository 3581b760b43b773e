"""reset() does not take a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ResetTakesNoSeed(Rule):
    """reset() does not take a seed.

    ## What it checks
    The parameters of `reset()` of the environment and of every wrapper around it: `seed`, or `**kwargs`.

    ## Why it matters
    Vector environments, checkers and most libraries call `reset(seed=…)`: it raises, or a wrapper swallows the seed and
    runs cannot be repeated.

    ## Likely causes
    1. The environment was written for gym before 0.26, with a method `seed()`. Confirm: look at the signature of
       `reset()`.
    2. A wrapper overrides `reset(self)` without passing on what it is given. Confirm: look at the wrapper that is
       named.

    ## What to try first
    Write `def reset(self, *, seed=None, options=None)`, and pass both on.

    ## When it is fine
    Never.

    ## References
    Tianshou pull request 861.
    """

    code: ClassVar[str] = "ENV024"
    name: ClassVar[str] = "reset-takes-no-seed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for layer in [each for each in evidence.layers if not each.takes_seed][-1:]:
            yield self.finding(
                f"reset() of {layer.name} takes no seed",
                where=layer.where,
                seen=f"{layer.name}.reset() has no parameter seed",
                expected="reset(self, *, seed=None, options=None)",
                help="take seed and options, and pass them on to super().reset() or to the environment below",
                confidence=0.98,
            )
