"""The actor's loss pays for certainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.discrete_actor import weighed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CertaintyRewarded(Rule):
    """The actor's loss pays for certainty.

    ## What it checks
    In SAC the actor's loss is `alpha * log_prob - q`, with the log-prob of actions that are drawn so that gradients
    pass through them. Here such a log-prob, the only one in the loss, has a negative factor. Exact.

    ## Why it matters
    The policy is paid for being certain: its deviation collapses, and nothing is explored.

    ## Likely causes
    1. `-(alpha * log_prob + q)` or `-alpha * log_prob - q`. Confirm: read the line of the actor's loss.
    2. The temperature is negative: its logarithm is used without `exp`. Confirm: print it.

    ## What to try first
    `(alpha * log_prob - q).mean()`.

    ## When it is fine
    A second log-prob, of a prior or of a data set, may be subtracted: such losses are not looked at.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "ENT360"
    name: ClassVar[str] = "certainty-rewarded"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    losses: int = 4  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        discrete = weighed(evidence)
        if len(discrete) >= self.losses:
            if all(each.entropy < -1e-3 * abs(each.value) for each in discrete):
                yield self.finding(
                    "the actor is paid for being certain",
                    where=Where(update=discrete[0].update),
                    seen=f"the negative entropy of {discrete[0].actor} has the factor {discrete[0].entropy:+.3g} in "
                    f"{len(discrete)} losses",
                    expected="a positive factor",
                    help="the actor's loss is the sum of p * (alpha * log_p - q)",
                    confidence=0.94,
                )
            return
        signs: list[tuple[int, float, Event]] = []
        for audit in evidence.audits:
            for loss, terms in audit.losses:
                drawn = [
                    each
                    for each in terms
                    if each["kind"] == "output"
                    and each.get("op") == "logp"
                    and (each.get("attached") or {}).get("action")
                ]
                other = any(each["kind"] in ("policy", "classification", "entropy", "other") for each in terms)
                if len(drawn) != 1 or other or loss["how"] != "backward" or int(drawn[0].get("rows") or 0) < 4:
                    continue
                if "weight" not in drawn[0].arrays and drawn[0]["coefficient"]:
                    signs.append((audit.number, float(drawn[0]["coefficient"]), drawn[0]))
        if len(signs) < self.losses:
            raise NotEnough(f"{len(signs)} losses with the log-prob of reparameterised actions, needs {self.losses}")
        bad = [each for each in signs if each[1] < 0]
        if len(bad) >= 0.95 * len(signs):
            yield self.finding(
                "the actor is paid for being certain",
                where=bad[0][2].where,
                seen=f"the log-prob of its own actions has the factor {bad[0][1]:+.3g} in {len(bad)} of {len(signs)} "
                "losses",
                expected="a positive factor",
                help="the actor's loss is alpha * log_prob - q",
                confidence=0.95,
            )
