"""Environments that are played side by side begin alike, though starts vary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import evaluation_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LanesSeededAlike(Rule):
    """Environments side by side were given the same seed.

    ## What it checks
    Several environments are trained in side by side, as lanes of a vector or as a list. Their first episodes begin with
    the same observation, bit for bit, although other episodes begin with others. How likely that is by chance is
    counted from how often starts repeat.

    ## Why it matters
    The lanes play variations of one episode. A batch of eight is hardly more than a batch of one, and everything that
    is measured over it looks surer than it is.

    ## Likely causes
    1. Every environment is reset with the same seed. Confirm: print the seeds.
    2. The seed of a loop variable is bound late, so that all get the last one. Confirm: print inside the function that
       makes the environment.

    ## What to try first
    Give the lane `i` the seed `seed + i`; a vector of Gymnasium does so when it is given one number.

    ## When it is fine
    Where lanes are meant to begin alike, as for comparing answers to one question: they are given a seed at every
    reset then, and nothing is said.

    ## References
    hill-a/stable-baselines issue 675 (every environment got the last seed).
    """

    code: ClassVar[str] = "SEE302"
    name: ClassVar[str] = "lanes-seeded-alike"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "seeded"

    chance: float = 1e-3  # of such an agreement between lanes with seeds of their own
    starts: int = 8  # other episodes that must have been seen to begin

    def check(self, evidence: Script) -> Iterator[Finding]:
        groups = list(_side_by_side(evidence))
        if not groups or not evidence.audits or evidence.audits[0].env_step != 0:
            raise NotEnough("no environments side by side were seen from their first reset on")
        thin = ""
        for streams, lanes in groups:
            if any(sum(seed is not None for seed in each.get("seeds", ())) > 2 for each in streams):
                continue  # seeded at every reset: the starts are chosen
            indices = [int(each["index"]) for each in streams]
            first = [_starts(evidence.audits[0], index, lane) for index in indices for lane in range(lanes)]
            if min(map(len, first)) == 0:
                continue
            others = [start for audit in evidence.audits for start in _all_starts(audit, indices)]
            rounds = [{each[number] for each in first} for number in range(min(map(len, first)))]
            alike = [each for each in rounds if len(each) == 1]
            if len(rounds[0]) > 1:
                continue
            shared = next(iter(rounds[0]))
            rest = [each for each in others if each != shared]
            if len(rest) < self.starts:
                thin = f"{len(rest)} episodes that begin otherwise, needs {self.starts}"
                continue
            most = max(others.count(each) for each in set(rest))
            chance = len(alike) * (len(first) - 1) * math.log((most + 1) / (len(rest) + 2))
            if chance > math.log(self.chance):
                thin = "lanes begin alike, as may happen by chance"
                continue
            seeds = [seed for each in streams for seed in list(each.get("seeds", ()))[:1]]
            given_one = len(seeds) > 1 and None not in seeds and len(set(seeds)) == 1
            if not evidence.audits[0].nodes.obs.size and len(alike) < 2 and not given_one:
                continue  # a game in pictures may begin in one way, and go on elsewhere where a life was lost
            yield self.finding(
                "environments that are played side by side begin alike",
                seen=f"{len(first)} of {streams[0].get('name', 'the environment')} begin their first episode with the "
                f"same observation, {len(alike)} of {len(rounds)} episodes agree; {len(set(rest))} other starts seen"
                + (f"; given seeds {seeds[:8]}" if any(seed is not None for seed in seeds) else ""),
                expected="another start in every environment",
                help="give each environment a seed of its own: seed + i",
                confidence=0.95,
            )
            return
        if thin:
            raise NotEnough(thin)


def _side_by_side(script: Script) -> Iterator[tuple[Sequence[Mapping[str, Any]], int]]:
    """Vectors, and lists of at least three environments of one kind that are stepped about as often as one another, or
    of two where processes step them.
    One that is only played to see how good the policy is belongs to none of them."""
    single: dict[str, list[Mapping[str, Any]]] = {}
    played = evaluation_streams(script)
    for each in script.streams:
        if int(each.get("lanes", 1)) > 1:
            yield [each], int(each["lanes"])
        elif int(each["index"]) not in played:
            single.setdefault(str(each.get("name")), []).append(each)
    for streams in single.values():
        most = max(int(each["steps"]) for each in streams)
        alike = [each for each in streams if 2 * int(each["steps"]) >= most > 0]
        actors = all("elsewhere" in (each.get("facts") or {}) for each in alike)  # each in a process of its own
        if len(alike) >= (2 if actors else 3):
            yield alike, 1


def _starts(audit: Audit, stream: int, lane: int) -> list[bytes]:
    nodes = audit.nodes
    places = np.flatnonzero((nodes.stream == stream) & (nodes.lane == lane) & nodes.first)
    starts = [_fingerprint(audit, int(place)) for place in places[np.argsort(nodes.id[places])]]
    # What is no longer remembered looks the same everywhere. From there on the count is lost.
    return starts[: starts.index(b"")] if b"" in starts else starts


def _all_starts(audit: Audit, streams: Sequence[int]) -> list[bytes]:
    places = np.flatnonzero(np.isin(audit.nodes.stream, streams) & audit.nodes.first)
    return [found for place in places if (found := _fingerprint(audit, int(place)))]


def _fingerprint(audit: Audit, place: int) -> bytes:
    """The observation, of a wide one its hash; empty where it is no longer known."""
    obs, stats = audit.nodes.obs[place], audit.nodes.obs_stats[place]
    if not obs.size:
        return bytes(stats[4:5].tobytes()) if len(stats) > 4 and stats[4] and not np.isnan(stats[4]) else b""
    return b"" if np.isnan(obs).all() else bytes(obs.tobytes())
