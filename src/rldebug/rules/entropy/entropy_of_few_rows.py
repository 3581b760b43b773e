"""The entropy bonus is that of a few rows only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyOfFewRows(Rule):
    """The entropy bonus covers a small part of the rows that are learned from.

    ## What it checks
    A policy loss that adds up the log-probs of several steps, and in the same loss the entropy of the same policy: of
    as many rows, or of those of one step only.

    ## Why it matters
    The bonus holds for one step of each episode; everywhere else the policy is free to become certain.

    ## Likely causes
    1. The entropy is computed after the loop, from the distribution that was left over of the last step. Confirm: it is
       not collected in a list beside the log-probs.

    ## What to try first
    Collect the entropy in every step, and use the mean of all.

    ## When it is fine
    The entropy of a Gaussian with one learned scale is the same in all rows: only that of a choice is judged.

    ## References
    Seen in the wild: POL-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENT303"
    name: ClassVar[str] = "entropy-of-few-rows"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # over several steps, with one entropy

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = [], 0
        for each in surrogates(evidence):
            steps, family = int(each.term.get("steps", 1)), each.term.get("family")
            entropies = [term for term in each.beside if term["kind"] == "entropy" and term["op"] == "p-log-p"]
            if steps < 4 or len(entropies) != 1 or family != "categorical":
                continue
            judged += 1
            if int(entropies[0]["rows"]) * steps == int(each.term["rows"]) and int(entropies[0].get("steps", 1)) == 1:
                found.append((each, entropies[0]))
        if judged < self.losses:
            raise NotEnough(f"{judged} losses over several steps with an entropy, needs {self.losses}")
        if len(found) < 0.9 * judged:
            return
        each, term = found[0]
        yield self.finding(
            "the entropy bonus is that of one step, the policy loss that of all",
            where=term.where,
            seen=f"entropies of {term['rows']} rows beside "
            f"log-probs of {each.term['rows']}, in {len(found)} of {judged} losses",
            expected="the entropy of every row that is learned from",
            help="collect the entropy in every step, as the log-prob is",
            confidence=0.9,
        )
