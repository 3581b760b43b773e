"""On-policy learning from data of earlier policies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import ambiguous
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RolloutNeverCleared(Rule):
    """A policy gradient learns from data of earlier policies.

    ## What it checks
    Rows of a policy loss, a log-prob times an advantage of either sign, are traced back to the steps they were
    collected in. Most were collected before earlier updates, and the oldest are from further and further back; or all
    are from before the first update, and none is added.

    ## Why it matters
    The gradient is that of a policy that no longer exists. Without an importance ratio it is wrong; with one it is
    clipped away, and each update costs more than the last.

    ## Likely causes
    1. The lists of the rollout are not emptied after the update. Confirm: print their length before each update.
    2. The pointer of the buffer is set back before the new rows are in. Confirm: the same.

    ## What to try first
    Empty the buffer at the end of each update.

    ## When it is fine
    Off-policy actor-critics with a replay; they are told by their target networks, and not judged.

    ## References
    Seen in the wild: BUF-24 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF314"
    name: ClassVar[str] = "rollout-never-cleared"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    audits: int = 3  # after the first, in which rows of the policy loss can be traced
    rows: int = 16  # in each
    stale: float = 0.4  # share of rows collected before an earlier update

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        # A copy that acts is the old policy, and no target network.
        acts = {event["module"] for _, event in evidence.events("call") if event.get("acting")}
        acts |= {str(evidence.modules.get(each, {}).get("inside")) for each in acts}
        followers = [each for each in roles.target_names if each not in acts]
        if followers or any(each["kind"] == "output" for _, each in evidence.events("term")):
            return
        looks: dict[int, list[tuple[float, int, int]]] = {}
        since: dict[int, int] = {}  # by audit: optimizer steps since the newest row was collected
        where: Event | None = None
        signs = set[bool]()
        for audit, term in evidence.terms("policy"):
            found = _ages(audit, term)
            if found is None or len(found) < self.rows:
                continue
            weight = term.arrays.get("weight")
            if weight is not None:
                signs |= {bool((weight < 0).any()), not bool((weight > 0).any())}
            newest = found.max()
            looks.setdefault(audit.number, []).append(
                (float((found < newest).mean()), int(newest - found.min()), int(newest))
            )
            where = term
            since[audit.number] = min(since.get(audit.number, term.update), term.update - int(newest))
        late = [np.median(np.array(each), axis=0) for number, each in sorted(looks.items()) if number > 0]
        sizes = [
            max(len(term.arrays["rows"]) for term in audit.terms("policy") if "rows" in term.arrays)
            for audit in evidence.audits
            if audit.number in looks
        ]
        growing = len(sizes) > 2 and all(one < two for one, two in itertools.pairwise(sizes))
        if len(late) < (2 if growing else self.audits):
            raise NotEnough(f"{len(late)} audits in which rows of a policy loss could be traced")
        if signs == {False} or where is None:
            return  # weights of one sign: imitation of what went well, which may be old
        if len({each[2] for found in looks.values() for each in found}) == 1 and len(since) > self.audits:
            ages = [since[each] for each in sorted(since)]
            if all(one < two for one, two in itertools.pairwise(ages)):
                yield self._nothing_new(where, ages[-1])
            return
        shares = np.array([each[0] for each in late])
        reach = np.array([each[1] for each in late])
        now = np.array([each[2] for each in late])
        # Never cleared: the oldest row stays the same, so its age grows as fast as the program goes on.
        grows = reach[-1] - reach[0] > 0.8 * (now[-1] - now[0]) > 0
        if (shares < self.stale).any() or not grows:
            return
        ratio = "ratio" in where.arrays
        yield self.finding(
            "the policy gradient is taken over data of earlier policies",
            where=where.where,
            seen=f"{shares[-1]:.0%} of the rows were collected before an earlier update, the oldest "
            f"{reach[-1]:.0f} updates ago",
            expected="rows of the newest rollout only",
            help="empty the rollout buffer after each update",
            confidence=0.93,
            severity="warning" if ratio else "error",
        )

    def _nothing_new(self, where: Event, age: int) -> Finding:
        return self.finding(
            "the policy gradient goes on over data of the first policy",
            where=where.where,
            seen=f"all rows were collected {age} updates ago, and none since",
            expected="rows of the newest rollout only",
            help="empty the rollout buffer after each update: while it is full nothing new is collected",
            confidence=0.9,
            severity="warning" if "ratio" in where.arrays else "error",
        )


def _ages(audit: Audit, term: Event) -> np.ndarray | None:
    """Optimizer steps that had been taken when each row was collected."""
    rows = term.arrays.get("rows")
    if rows is None or not len(audit.nodes):
        return None
    places = audit.nodes.index(rows)
    places = places[~ambiguous(audit.nodes, places)]
    return np.asarray(audit.nodes.update[places[audit.nodes.acted[places]]])
