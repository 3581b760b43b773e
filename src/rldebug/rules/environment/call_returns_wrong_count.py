"""reset() or step() returns something else than was agreed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CallReturnsWrongCount(Rule):
    """reset() or step() returns something else than was agreed.

    ## What it checks
    `reset()` returns `(obs, info)`, `step()` returns `(obs, reward, terminated, truncated, info)`, and `info` is a
    dictionary.

    ## Why it matters
    Whoever unpacks it raises, or takes one thing for another: the `info` of an old environment for the observation, its
    end-of-episode flag for `terminated`, so that time limits end the world.

    ## Likely causes
    1. The environment was written for gym before 0.26, with four values. Confirm: count the values that `step()`
       returns.
    2. A wrapper unpacks and puts together again, and forgets one. Confirm: call `step()` of the environment below the
       wrapper.
    3. `info` is None where there is nothing to tell. Confirm: print it after `reset()` and after the last step.

    ## What to try first
    Return five values from `step()` and two from `reset()`.

    ## When it is fine
    Never, for Gymnasium. An old environment can be wrapped with shimmy.

    ## References
    Gymnasium, *Migration guide from gym 0.21*.
    """

    code: ClassVar[str] = "ENV011"
    name: ClassVar[str] = "call-returns-wrong-count"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for misfit in evidence.structure[:1]:
            yield self.finding(
                f"{misfit.part} is not what was agreed",
                where=evidence.where,
                seen=f"{misfit.part}: {misfit.seen}",
                expected=misfit.expected,
                help="return obs, info from reset(); obs, reward, terminated, truncated, info from step()",
                confidence=0.99,
            )
