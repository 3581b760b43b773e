"""Calls to a vector environment do not come in pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class VectorCallsOutOfOrder(Rule):
    """Calls to a vector environment do not come in pairs.

    ## What it checks
    `step_async`, `reset_async` or `call_async` was called while another one was pending, or a `…_wait` without its
    call.

    ## Why it matters
    Each answer of the workers belongs to one call. The environment refuses before they are mixed up.

    ## Likely causes
    1. `step_async` is called twice, or `step` between `step_async` and `step_wait`. Confirm: the line that is
       named.
    2. An exception between the two was caught, and the answer never fetched. Confirm: look for the `except`.
    3. Two threads use one environment. Confirm: print the thread.

    ## What to try first
    Call `step_wait()` after each `step_async()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `AsyncVectorEnv`.
    """

    code: ClassVar[str] = "MPR454"
    name: ClassVar[str] = "vector-calls-out-of-order"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("AlreadyPendingCallError", "NoAsyncCallError") or evidence.says(
            "while waiting for a pending call to", "without any prior call to"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"Calling `(\w+)` while waiting for a pending call to `(\w+)`", evidence.message)
        late = re.search(r"Calling `(\w+)` without any prior call to `(\w+)`", evidence.message)
        envs = [name for name, fact in evidence.operands().items() if fact["kind"] == "environment"]
        whose = f" on {envs[0]}" if envs else ""
        if found:
            text = f"{found[1]}() was called{whose} while the answer to {found[2]} was still to be fetched"
            advice = f"call {found[2].removesuffix('_async')}_wait() before {found[1]}()"
        else:
            text = f"{late[1] if late else 'wait'}() was called{whose}, and nothing had been asked"
            advice = f"call {late[2] if late else 'step_async'}() first, once for each wait"
        yield self.finding(
            text,
            where=evidence.where,
            seen=evidence.said,
            expected="one wait for each call",
            help=advice,
            confidence=0.95,
        )
