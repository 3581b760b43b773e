"""A part of the action is drawn, and its log-prob is in no policy loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class HeadLeftOutOfLogProb(Rule):
    """A part of the action is drawn, and no policy loss has its log-prob.

    ## What it checks
    The distributions whose entropy is rewarded by the policy loss: all of them are drawn from, once per step, while
    the program acts. But of one of them no log-prob of an action enters the loss, nor anything else: its entropy is all
    that it is trained by. Read off the graph of the loss, by the layer and the outputs that a distribution comes from.

    ## Why it matters
    That part of the action gets no policy gradient: it is never made more or less likely by what it led to, and only
    becomes more random. A ratio without it is not the ratio of the joint policy either.

    ## Likely causes
    1. The log-probs of several heads are to be summed, and one was forgotten. Confirm: count the heads where actions
       are drawn, and where log-probs are taken.
    2. Only the first column of the stored actions is scored. Confirm: the shape of the actions where they are scored.

    ## What to try first
    Sum the log-probs of all heads, while acting and in the loss.

    ## When it is fine
    A distribution that is drawn from and trained by another loss: then it is silent.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (2022): MultiDiscrete actions.
    """

    code: ClassVar[str] = "POL522"
    name: ClassVar[str] = "head-left-out-of-log-prob"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    losses: int = 4  # of a policy whose entropy is rewarded, in two audits at the least
    draws: float = 0.9  # of each distribution, for each time that the network was asked

    def check(self, evidence: Script) -> Iterator[Finding]:
        known = [(audit, term) for audit, term in evidence.terms("policy") if "unpicked" in term.detail]
        judged = [(audit, term) for audit, term in known if term["entropies"]]
        if len(judged) < self.losses:
            raise NotEnough(f"{len(judged)} losses of choices with an entropy, needs {self.losses}")
        found = [(audit, term) for audit, term in judged if term["unpicked"] and self._all_drawn(audit, term)]
        # In another loss the others may be learned.
        if len(found) < max(self.losses, len(known)) or len({audit.number for audit, _ in found}) < 2:
            return
        left_out = Counter(tuple(term["unpicked"]) for _, term in found)
        if len(left_out) > 1:
            return
        parts, first = next(iter(left_out)), found[0][1]
        count = len(first["entropies"])
        several = " and ".join(map(str, parts))
        yield self.finding(
            f"{len(parts)} of the {count} choices that make up an action {'are' if len(parts) > 1 else 'is'} "
            "in no log-prob of the policy loss",
            where=first.where,
            seen=f"the one among {several} is drawn; of {len(known)} losses {len(found)} have its entropy and no more",
            expected="the sum of the log-probs of all that is drawn",
            help="add the log-prob of each head, while acting and in the loss",
            confidence=0.93,
        )

    def _all_drawn(self, audit: Audit, term: Event) -> bool:
        """Whether each distribution whose entropy is there is drawn from whenever the program acts."""
        asked = max((int(each.get("calls") or 1) for each in audit.calls if _asked(each, term)), default=0)
        drawn: Counter[int] = Counter()
        for event in audit.of("sample"):
            params, result = event.arrays.get("params"), event.arrays.get("result")
            if params is None or result is None or event.get("params") not in (["logits"], ["probs"]):
                continue
            choices = params.shape[1] if params.ndim == 2 else params.size // max(result.size, 1)
            drawn[choices] += int(event.get("calls") or 1)
        wanted = Counter(int(each) for each in term["entropies"])
        return asked > 1 and all(drawn[each] >= self.draws * asked * times for each, times in wanted.items())


def _asked(call: Event, term: Event) -> bool:
    return not call.get("grad") and call["module"] in (term.get("reached") or ())
