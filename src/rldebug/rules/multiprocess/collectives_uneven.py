"""One rank waits in a collective that another never calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import Member, called, ranks
from rldebug.rule import NotEnough, Rule

_SAME_SIZE = ("all_reduce", "broadcast", "barrier", "reduce")  # what all ranks must call alike


@dataclass(frozen=True, kw_only=True)
class CollectivesUneven(Rule):
    """One rank waits in a collective that another never calls.

    ## What it checks
    Each rank writes down which collective of all ranks it calls, and whether it came back. One rank did not come back
    from its last; another has ended after fewer, or has a different one in the same place.

    ## Why it matters
    Every rank has to call every collective, in the same order. Else the program hangs until a timeout, or adds up what
    does not belong together.

    ## Likely causes
    1. A reduction, broadcast or barrier stands under a condition that holds on some ranks only: rank 0, an early stop,
       an empty batch. Confirm: look at the line that is named.
    2. One rank has fewer minibatches or iterations. Confirm: print the length of the loop on each rank.

    ## What to try first
    Move the call out of the condition, or reduce what decides over all ranks first.

    ## When it is fine
    Never. A rank that was killed, or failed with an error of its own, is told of as that.

    ## References
    Bug kind MPR-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "MPR355"
    name: ClassVar[str] = "collectives-uneven"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    explains: ClassVar[tuple[str, ...]] = ("MPR403",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = [each for each in ranks(evidence) if each.get("last")]
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes of one group called collectives, needs 2")
        for waiting in members:
            mine = waiting["last"]
            if not mine.get("waits"):
                continue
            for other in members:
                theirs = other["last"]
                ended = other.get("state") == "finished" and not theirs.get("waits") and theirs["calls"] < mine["calls"]
                crossed = theirs["calls"] == mine["calls"] and _kind(theirs) != _kind(mine)
                if other is not waiting and (ended or crossed):
                    yield self._told(waiting, other, ended)
                    return
                met = None if other is waiting else _went_on(mine, theirs)
                if met is not None:
                    yield self._told(waiting, {**other, "last": met}, False)
                    return

    def _told(self, waiting: Member, other: Member, ended: bool) -> Finding:
        mine, theirs = waiting["last"], other["last"]
        line = mine.get("line") or (None, None)
        last = f"{_named(theirs)} was its last" if ended else f"{_named(theirs)} is its"
        return self.finding(
            f"{called(waiting)} waits in a collective that {called(other)} never calls"
            if ended
            else f"{called(waiting)} and {called(other)} call different collectives",
            where=Where(file=line[0], line=line[1], update=mine.get("update")),
            seen=f"{called(waiting)} waits in call {mine['calls']}, {_named(mine)}; of {called(other)} {last}, "
            f"call {theirs['calls']}",
            expected="the same collectives in the same order on every rank",
            help="move the call out of the condition that holds on some ranks only, or decide on all ranks together",
            confidence=0.95,
        )


def _went_on(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call of the other that has the number of the one that is waited in, where it was another kind of call: the
    other came back from it, and has gone on."""
    for calls, what, numel, line in theirs.get("recent") or ():
        if calls == mine["calls"] and what in _SAME_SIZE and (what, numel) != _kind(mine):
            return {"calls": calls, "what": what, "numel": numel, "line": line}
    return None


def _kind(last: Mapping[str, Any]) -> tuple[Any, Any]:
    return last.get("what"), last.get("numel")


def _named(last: Mapping[str, Any]) -> str:
    line = last.get("line")
    size = f" of {last['numel']:,} numbers" if last.get("numel") is not None else ""
    return f"{last.get('what')}{size}" + (f" ({line[0]}:{line[1]})" if line else "")
