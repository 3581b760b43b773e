"""The two weights of a soft update do not add up to one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.copies import adds_up, copies, mixed


@dataclass(frozen=True, kw_only=True)
class BlendWeightsDoNotAddUp(Rule):
    """The two weights of a soft update do not add up to one.

    ## What it checks
    In `t = a * t + b * p` over the weights of two networks, a + b must be 1 whatever the rate is: two equal networks
    stay equal. `tau * p + tau * t`, `tau * p + 1 - tau * t` do not. Read from the source.

    ## Why it matters
    The target shrinks to nothing or grows without bound, some percent at each update, and drags the values along.

    ## Likely causes
    1. A bracket is missing in `(1 - tau) * t`. Confirm: put p = t into the formula by hand.
    2. The same rate stands at both networks. Confirm: read the line.

    ## What to try first
    `t.data.copy_(tau * p.data + (1 - tau) * t.data)`.

    ## When it is fine
    Where weights are meant to decay; then say so in another line.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT624"
    name: ClassVar[str] = "blend-weights-do-not-add-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT371", "TGT303")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for copy in copies(evidence):
            # Both weights must be in it: p * 2 alone is no blend.
            none, mine, other = (mixed(evidence, copy, old=o, new=n, rate=0.3) for o, n in ((0, 0), (1, 0), (0, 1)))
            if adds_up(evidence, copy) is not False or none in (mine, other):
                continue
            told = mixed(evidence, copy, old=2.0, new=2.0)
            got = "another" if told is None else f"{told:.4g}"
            into = evidence.quoted(copy.into)
            yield self.finding(
                f"a weight that {into} shares with {evidence.quoted(copy.origin)} does not stay what it is",
                where=evidence.at(copy.node),
                seen=f"{evidence.quoted(copy.node)}: weights of 2 and 2 give {got}",
                expected="the two weights add up to 1",
                help="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
                confidence=0.93,
            )
