"""The target network never follows the network it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import Follower, followers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetLeftBehind(Rule):
    """The target network never follows the network it stands for.

    ## What it checks
    A network that no optimizer owns is asked, in each update, about other rows than its twin of the same shape learns
    from: a target network. Its weights are compared at every look, to the last bit. They are the same from first to
    last, while those of its twin move away. How long that must last depends: a few updates where another target
    network of the program does follow, or where it is loaded with its own weights; some hundreds where an actor is
    trained through a critic, where targets follow at every step; a thousand elsewhere.

    ## Why it matters
    All targets are a reward plus the guess of an untrained network: nothing is carried back over more than one step.

    ## Likely causes
    1. The line that copies the weights is missing or never reached. Confirm: print in that branch.
    2. It copies the target onto itself, or assigns to a local name: `w = tau * w + ...` in a loop over parameters binds
       `w` anew and changes no tensor. Confirm: compare one weight before and after the line.
    3. One of several targets was forgotten: the second critic, the actor. Confirm: list what the update goes over.

    ## What to try first
    Print one weight of the target network before and after the line that should update it.

    ## When it is fine
    An interval between copies that is longer than the run. Networks that are asked about the very rows their twin is
    trained on, such as a reference policy or the fixed network of a novelty bonus, are not judged.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*. thesouther/MARL issue 8.
    """

    code: ClassVar[str] = "TGT300"
    name: ClassVar[str] = "target-left-behind"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "followed"
    follows: ClassVar[tuple[str, ...]] = ("TGT301",)
    explains: ClassVar[tuple[str, ...]] = ("OPT653",)  # the counter that its copies wait for

    looks: int = 3  # at the weights
    few: int = 60  # optimizer steps, where another target follows, or it was loaded with its own weights
    some: int = 300  # where an actor is trained through the critic
    many: int = 1000  # elsewhere: intervals of hundreds are common
    library: int = 5000  # where a library does the learning: copies every ten thousand steps are a default of some
    apart: float = 0.02  # of its own norm, by which the two must differ in the end

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each.to_the_end for each in followers(evidence)]
        if not found:
            raise NotEnough("no target network was seen")
        follows = [each for each in found if len(set(each.prints)) >= self.looks]
        through = any(term["kind"] == "output" for _, term in evidence.events("term"))
        for each in found:
            # What it is loaded with between two looks, and does not change it, are its own weights.
            within = sum(each.updates[0] < update <= each.updates[-1] for update in each.loads) if each.still else 0
            own = each.own_loads >= 2 or within >= 2
            many = self.library if self._in_library(evidence, each) else self.many
            wanted = self.few if own else self.some if through else many
            if follows and not own:
                wanted = max(self.few, 3 * max(_longest_rest(other) for other in follows))
            if not each.still or len(each.prints) < self.looks or each.span < wanted:
                continue
            if len(set(each.online_prints)) < self.looks or not each.distance[-1] > self.apart:
                continue
            if each.loaded > each.own_loads and within < 2:
                continue  # it may be loaded after the last look
            yield self._finding(each, own, bool(follows))
            return

    def _in_library(self, script: Script, each: Follower) -> bool:
        """Both networks are called from one line of the program: that of the call which does it all."""
        calls = [call for _, call in script.events("call") if call["module"] in (each.target, each.online)]
        return len({tuple(call.get("line") or ()) for call in calls}) == 1

    def _finding(self, each: Follower, own: bool, others: bool) -> Finding:
        line = each.line
        times = max(each.own_loads, sum(update > each.updates[0] for update in each.loads))
        rest = f"; it was loaded with its own weights {times} times" if own else ""
        rest += "; other target networks do follow" if others and not own else ""
        return self.finding(
            f"the target network {each.target} never changes",
            where=Where(file=line[0], line=line[1], update=each.updates[-1])
            if line
            else Where(update=each.updates[-1]),
            seen=f"equal to the last bit at {len(each.prints)} looks over {each.span} optimizer steps; {each.online} "
            f"has moved {each.distance[-1]:.0%} of the target's norm away{rest}",
            expected=f"weights that follow those of {each.online}",
            help="print one weight of it before and after the line that should update it",
            confidence=0.97 if own else 0.93 if others else 0.85,
        )


def _longest_rest(follower: Follower) -> int:
    """Optimizer steps over which it was seen to stay the same, at most: another may be as slow."""
    since, longest = follower.updates[0], 0
    for place, update in enumerate(follower.updates):
        if place and follower.prints[place] != follower.prints[place - 1]:
            since = update
        longest = max(longest, update - since)
    return longest
