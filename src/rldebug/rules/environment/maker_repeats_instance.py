"""The function that makes environments hands out one and the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MakerRepeatsInstance(Rule):
    """The function that makes environments hands out one and the same.

    ## What it checks
    It is called twice; both times the same object comes back, or two wrappers around the same environment.

    ## Why it matters
    In a vector each sub-environment steps and resets the one game that they share: rewards, ends and observations of
    all are mixed up, and nothing raises.

    ## Likely causes
    1. `lambda: env` around an environment that was made before. Confirm: look where it is made: outside of the
       function.
    2. `[make] * n` of a function that caches. Confirm: look for a cache or a global in it.

    ## What to try first
    Make the environment inside of the function.

    ## When it is fine
    It is used once only. Then nothing of what concerns several instances could be checked here.

    ## References
    Stable-Baselines3 issue 649.
    """

    code: ClassVar[str] = "ENV029"
    name: ClassVar[str] = "maker-repeats-instance"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if evidence.same_instance:
            yield self.finding(
                "making the environment twice gives one instance",
                where=evidence.where,
                seen="two calls, one environment",
                expected="a new environment from every call",
                help="make the environment inside of the function that is handed over",
                confidence=0.95,
            )
