"""The old log-probs are not those that the tokens were sampled with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_learned import of_places
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StoredLogProbNotOfSampler(Rule):
    """The old log-probs are not those that the tokens were sampled with.

    ## What it checks
    The old log-probs of the ratio are compared with the probabilities that the tokens were drawn from. Both are
    known for each token; they differ, though the loss scores the tokens just as the sampler did.

    ## Why it matters
    The ratio between new and old policy is off before the first update: clipping sets in at random, and some tokens
    are never learned.

    ## Likely causes
    1. The log-probs are taken from the raw scores, the tokens from scores that were divided by a temperature or cut
       to the best. Confirm: print both at the first token.
    2. They are stored in another order, or for another place. Confirm: the same.

    ## What to try first
    Store the log-prob that the sampler used, of the token that it drew.

    ## When it is fine
    A program that scores what it wrote again and uses that as the old log-prob agrees with its own loss, and is not
    counted.

    ## References
    Bug kind POL-13, MPR-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL388"
    name: ClassVar[str] = "stored-log-prob-not-of-sampler"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = (
        "POL381",
        "POL382",
    )

    tokens: int = 64  # that were written
    apart: float = 0.02  # log-probs that differ by more
    share: float = 0.5  # of the tokens

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = differing = 0
        worst = None
        for found in rounds(evidence):
            for each in found.passes:
                term = next(
                    (
                        one
                        for one in found.audit.terms("policy")
                        if one.order > each.call.order and one.update == each.call.update
                    ),
                    None,
                )
                if term is None or not each.at_once or term.order > each.gradient.order:
                    continue
                old, new = term.arrays.get("logp_old"), term.arrays.get("logp")
                if old is None or new is None or len(new) != len(old) or len(old) <= len(each.ids):
                    continue
                width = each.writing.tokens.shape[1]
                before, now = of_places(each, old, width), of_places(each, new, width)
                if before is None or now is None:
                    continue
                for row in (each.rows >= 0).nonzero()[0]:
                    steps = np.arange(min(int(each.length[row]), width))
                    tokens = each.ids[row, each.start + steps]
                    drawn = each.writing.logp[each.rows[row], steps, tokens]
                    same = np.abs(now[row, steps] - drawn) < self.apart  # the loss scores as the sampler did
                    judged += int(same.sum())
                    missed = same & (np.abs(before[row, steps] - drawn) > self.apart)
                    differing += int(missed.sum())
                    worst = worst or (term if missed.any() else None)
        if judged < self.tokens:
            raise NotEnough(f"{judged} tokens whose old log-prob and sampler are known, needs {self.tokens}")
        if worst is None or differing < self.share * judged:
            return
        yield self.finding(
            "the old log-probs are not those that the tokens were sampled with",
            where=worst.where,
            seen=f"another log-prob than the sampler's for {differing} of {judged} tokens, before any update",
            expected="the log-prob of the drawn token under the distribution it was drawn from",
            help="store the log-prob from the distribution that the token was drawn from",
            confidence=0.95,
        )
