"""The log-prob of a squashed action lacks the correction for the squashing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.squashing import soft_log_probs
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SquashingNotCorrected(Rule):
    """The log-prob of a squashed action is not corrected for the squashing.

    ## What it checks
    Actions are the tanh of drawn numbers. In the targets of a soft critic, r + γ · (Q − α log π), everything but the
    log-prob is known: whether it is that of the drawn number, without the logarithm of the slope of the tanh, or with
    that slope taken at the wrong place, is told by which one fits every row. Exact.

    ## Why it matters
    The entropy is that of another variable: the bonus grows without bound as the numbers go to where the tanh is flat,
    and the policy ends up at the bounds of the action space.

    ## Likely causes
    1. `log(1 - tanh(u)²)` is not subtracted from the log-prob, or a flag skips it. Confirm: print both.
    2. It is computed from the squashed action as if that were the number: tanh is applied twice. Confirm: as before.

    ## What to try first
    `logp = normal.log_prob(u).sum(-1) - torch.log(1 - torch.tanh(u) ** 2 + 1e-6).sum(-1)`.

    ## When it is fine
    In ratios of a policy gradient the correction cancels: those are not judged. Actions that are not squashed need
    none.

    ## References
    Haarnoja et al., *Soft Actor-Critic* (2018), appendix C.
    Seen in the wild: ACT-08, ACT-13 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT327"
    name: ClassVar[str] = "squashing-not-corrected"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    losses: int = 2  # whose soft targets could be taken apart

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = soft_log_probs(evidence)
        total = len(found)
        if total < self.losses:
            raise NotEnough(f"{total} soft targets of a squashed policy could be taken apart, needs {self.losses}")
        for how, (said, seen) in _SAID.items():
            count = sum(each.how == how for each in found)
            if count >= max(self.losses, 0.9 * total):
                yield self.finding(
                    f"the log-prob of the squashed action {said}",
                    where=found[0].where,
                    seen=f"the targets hold the log-prob of the drawn numbers{seen} in {count} of {total} losses",
                    expected="the log-prob of the number less log(1 − tanh²) of it",
                    help="subtract log(1 - tanh(u)^2), summed over the action, with u the number before the tanh",
                    confidence=0.96,
                )
                return


_SAID = {
    "plain": ("lacks the correction", " alone,"),
    "twice": ("is corrected at the squashed action", " less log(1 − tanh²(tanh(u))),"),
    "added": ("is corrected the wrong way", " plus log(1 − tanh²(u)), not less,"),
    "other side": ("is corrected with a sign flipped in it", " less 2 (log 2 − u − softplus(2u)), not softplus(−2u),"),
}
