"""Actors in other processes play with the weights they began with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorsNeverUpdated(Rule):
    """Actors in other processes play with the weights they began with.

    ## What it checks
    Networks that act in processes of their own are looked at now and then, while another process learns from what
    they bring. From the first look to the last none of their weights has changed, though the learner has taken many
    optimizer steps in between. So it is in every process that acts.

    ## Why it matters
    Nothing that is learned is ever tried. All data come from the first policy, and drift away from the one that is
    trained on them.

    ## Likely causes
    1. The learner never writes its weights to where the actors read them. Confirm: look for the `load_state_dict`
       that follows the optimizer step.
    2. The actors read them once, at their start. Confirm: look for the `load_state_dict` within their loop.
    3. The network was handed to the processes without `share_memory()`, or started by spawn: each has a copy.
       Confirm: print `next(net.parameters()).is_shared()` in the actor.

    ## What to try first
    After every update copy the weights to a network in shared memory, and load from it before each rollout.

    ## When it is fine
    Data that are to come from a fixed policy: learning from demonstrations.

    ## References
    Espeholt et al., *IMPALA* (2018), section 3; PyTorch documentation, *Multiprocessing best practices*.
    """

    code: ClassVar[str] = "MPR357"
    name: ClassVar[str] = "actors-never-updated"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    looks: int = 4  # at each
    updates: int = 20  # between the first look and the last

    def check(self, evidence: Script) -> Iterator[Finding]:
        told = [(each.get("facts") or {}).get("actors") for each in evidence.streams]
        actors = [each for each in told if each]
        if not actors:
            raise NotEnough("no network was seen to act in another process")
        still = [each for each in actors if not each["changed"]]
        looked = [each for each in still if each["looks"] >= self.looks]
        enough = [each for each in looked if each["last"] - each["first"] >= self.updates]
        if len(still) < len(actors) or not enough:
            if len(still) == len(actors):
                raise NotEnough(f"actors were not looked at over {self.updates} optimizer steps")
            return
        longest = max(enough, key=lambda each: int(each["last"] - each["first"]))
        started = [each for each in evidence.noted("thread") if each.get("what") == "process" and each.get("line")]
        yield self.finding(
            "the actors play with the weights they began with",
            where=Where(file=started[0]["line"][0], line=started[0]["line"][1]) if started else Where(),
            seen=f"the weights with which {len(actors)} process{'es' * (len(actors) > 1)} act are as they were "
            f"{longest['last'] - longest['first']} optimizer steps before",
            expected="the learner's weights, a few updates old at most",
            help="copy the learner's weights to where the actors read them after each update, and load them there",
            confidence=0.95,
        )
