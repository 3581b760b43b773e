"""A wrapper that repeats actions goes on after the end of the episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.repeated import leaves, repeated, uses

_FLAGS = ("terminated", "truncated", "done")


@dataclass(frozen=True, kw_only=True)
class SkipRunsPastTheEnd(Rule):
    """A wrapper that repeats actions goes on after the end of the episode.

    ## What it checks
    A `step()` that calls `step()` of the environment inside it several times with the same action: the loop looks at no
    flag of an end, and never leaves early. Read from the source.

    ## Why it matters
    An environment is stepped that is over: what it returns means nothing. Where it starts anew by itself the end is
    never seen at all, since the last flag is that of another episode.

    ## Likely causes
    1. The `break` is missing. Confirm: print the flag in the loop.

    ## What to try first
    `if terminated or truncated: break` behind the inner call.

    ## When it is fine
    The environment inside never ends.

    ## References
    Gymnasium, *Env.step*: what follows an end is undefined. Seen in the wild: WRP-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV610"
    name: ClassVar[str] = "skip-runs-past-the-end"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step, loop, _ in repeated(evidence):
            flags = [name for role in _FLAGS if (name := step.named(role))]
            if not flags or leaves(loop) or any(uses(loop, each) for each in flags):
                continue
            yield self.finding(
                f"{evidence.quoted(step.call)} is repeated, whether or not the episode is over",
                where=evidence.at(step.call),
                seen=f"nothing in the loop reads {' or '.join(flags)}",
                expected="no further step once the episode has ended",
                help=f"if {' or '.join(flags)}: break",
                confidence=0.88,
            )
