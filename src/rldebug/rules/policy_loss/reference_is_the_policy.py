"""The reference is the policy itself: one network is asked twice."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_writings import samples_of
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReferenceIsThePolicy(Rule):
    """The reference is the policy itself: one network is asked twice.

    ## What it checks
    In every round the same line scores the same sequences twice, without gradients and without an update in
    between, with one and the same network, and no other network like it is ever asked.

    ## Why it matters
    The second answer is the first: the difference between policy and reference is always nil, and nothing holds the
    policy back.

    ## Likely causes
    1. The reference is the same object: `ref = model`. Confirm: `ref is model`.
    2. The function is called with the policy in both places. Confirm: look at its arguments.

    ## What to try first
    Make the reference with `copy.deepcopy(model)` before training.

    ## When it is fine
    Two passes by the same line for two different results of one network; one would do.

    ## References
    Bug kind POL-22 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL387"
    name: ClassVar[str] = "reference-is-the-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "alias"

    rounds: int = 2  # of writing and learning

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = rounds(evidence)
        if len(found) < self.rounds:
            raise NotEnough(f"{len(found)} rounds of writing and learning, needs {self.rounds}")
        modules = {str(event["module"]) for _, event in evidence.events("tokens")}
        if len(modules) != 1:
            return
        random = "Dropout" in evidence.modules.get(next(iter(modules)), {}).get("layers", {})
        twice = []
        for each in found:
            width = each.passes[0].call.arrays["ids"].shape[1] if each.passes else 0
            drawn = _drawn_from(each.audit)
            seen: dict[tuple[int, str, bytes], int] = {}
            for event in each.audit.of("tokens"):
                ids = event.arrays["ids"]
                if (
                    event["grad"]
                    or (event["training"] and random)
                    or (width not in ids.shape and (len(ids) > 1 or not each.passes or event.order in drawn))
                    or event.get("line") is None
                ):
                    continue
                key = (event.update, str(event["line"]), ids.tobytes())
                seen[key] = seen.get(key, 0) + 1
                if seen[key] == 2:
                    twice.append((event, each.audit.number))
        if len(twice) < self.rounds:
            return
        event = twice[0][0]
        yield self.finding(
            "the same network is asked twice about the same sequences: the reference is the policy itself",
            where=event.where,
            seen=f"the same sequences, weights and line twice, in {len(twice)} rounds; no other network was asked",
            expected="a reference of its own, which stays behind",
            help="make the reference with copy.deepcopy(model) before training",
            confidence=0.85,
        )


def _drawn_from(audit: Audit) -> set[int]:
    """Calls that a token was drawn after: of sequences that are still being written."""
    asked = [each.order for each in audit.of("tokens")]
    places = (bisect(asked, sample[0]) for sample in samples_of(audit))
    return {asked[place - 1] for place in places if place}
