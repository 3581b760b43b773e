"""What is played for the evaluation is learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import Stream, fact, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationIsLearnedFrom(Rule):
    """What is played for the evaluation is learned from.

    ## What it checks
    Beside the environment that is trained in another of the same class: played now and then, at length, and begun with
    the same few seeds again and again, as only an evaluation is. Rows of losses come from it.

    ## Why it matters
    The score is taken on episodes that were trained on, so it says how well they were learned by heart. The batch also
    holds more of those few episodes, played without exploration, the more often the policy is evaluated.

    ## Likely causes
    1. The loop of the evaluation is a copy of that of training, and still stores what it plays. Confirm: print the size
       of the memory before and after an evaluation.
    2. Storing is done where actions are chosen, or by a wrapper that both have. Confirm: the same.

    ## What to try first
    Store nothing while the policy is evaluated.

    ## When it is fine
    Greedy episodes from chosen seeds are a part of the training on purpose.

    ## References
    Whiteson et al., *Protecting Against Evaluation Overfitting in Empirical Reinforcement Learning*.
    """

    code: ClassVar[str] = "EVA374"
    name: ClassVar[str] = "evaluation-is-learned-from"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    rounds: int = 3  # that a seed comes up again
    rows: int = 20  # of losses
    seldom: float = 0.2  # of the phases of training, in which the other is played

    def check(self, evidence: Script) -> Iterator[Finding]:
        main = next((each for each in evidence.streams if int(each["index"]) == roles_of(evidence).stream), None)
        if main is None or len(evidence.streams) < 2:
            raise NotEnough("one environment was seen")
        for each in evidence.streams:
            if each is main or fact(each, "class") != fact(main, "class") or self._again(main):
                continue
            if int(each.get("phases") or 0) > self.seldom * int(main.get("phases") or 0) or not self._again(each):
                continue
            if int(each.get("learned") or 0) < self.rows:
                continue
            yield self.finding(
                "what is played for the evaluation is learned from",
                seen=f"{each['learned']} rows of losses come from {name_of(each)}, which is begun with the same "
                f"{len(set(each['seeds']))} seeds again and again; training goes on in another",
                expected="rows of the environment that is trained in",
                help="store nothing while the policy is evaluated",
                confidence=0.85,
            )
            return

    def _again(self, stream: Stream) -> bool:
        """Each of its episodes has a seed of its own, and nearly each of those comes up again and again."""
        seeds = list(stream.get("seeds") or ())
        times = Counter(seeds)
        return bool(seeds) and None not in times and len(seeds) >= self.rounds * len(times)
