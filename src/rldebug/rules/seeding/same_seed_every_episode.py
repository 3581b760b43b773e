"""Every training episode is reset with the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, learned_from, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SameSeedEveryEpisode(Rule):
    """Every episode is started with the same seed.

    ## What it checks
    The seeds that the environment that is learned from was reset with: the same number each time, also where it is made
    anew for each episode; and every episode that was seen to begin begins with the same observation. Where that
    observation is made of round numbers only, the start may be fixed anyhow, and this is a note.

    ## Why it matters
    Random starts, random goals and random disturbances come out alike in every episode. The agent learns one episode by
    heart, and fails from any other start.

    ## Likely causes
    1. `env.reset(seed=seed)` inside the loop over episodes. Confirm: look at every call of `reset`.
    2. The environment is made anew for each episode, and seeded. Confirm: look for `make` inside the loop.

    ## What to try first
    Give the seed to the first `reset` only; later ones go on with the same generator.

    ## When it is fine
    One single instance is to be solved, and nothing else.

    ## References
    Gymnasium documentation, *Env.reset* (seed right after creation, and never again).
    """

    code: ClassVar[str] = "SEE350"
    name: ClassVar[str] = "same-seed-every-episode"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "seeded"

    episodes: int = 8  # that began

    def check(self, evidence: Script) -> Iterator[Finding]:
        groups = list(_groups(evidence))
        resets = max((count for _, _, count in groups), default=0)
        if resets < self.episodes:
            raise NotEnough(f"the environment was reset {resets} times, needs {self.episodes}")
        for streams, seeds, count in groups:
            if len(seeds) < self.episodes or seeds[0] is None or any(each != seeds[0] for each in seeds):
                continue
            starts = _starts(evidence, {int(each["index"]) for each in streams})
            lanes = max(int(each.get("lanes") or 1) for each in streams)
            if len(starts) > lanes:
                continue  # the seed does not decide how an episode begins
            drawn = any(_drawn(each) for each in starts) or _others_differ(evidence, streams, starts)
            yield self.finding(
                "every training episode is started with the same seed",
                seen=f"reset(seed={seeds[0]}) at each of the first {len(seeds)} of {count} resets of "
                f"{name_of(streams[0])}" + ("; all episodes begin alike" if starts else ""),
                expected="a seed at the first reset only",
                help="call env.reset(seed=seed) once, and env.reset() from then on",
                confidence=0.9 if drawn else 0.7,
                severity=None if drawn else "note",
            )
            return


def _groups(script: Script) -> Iterator[tuple[Sequence[Stream], list[object], int]]:
    """Each environment by itself; and those of one name that were reset once or twice, one after the other."""
    streams = training_streams(script)
    for each in streams:
        yield [each], list(each.get("seeds") or ()), int(each["resets"])
    learned = learned_from(script)
    short: dict[str, list[Stream]] = {}
    for each in script.streams:
        if int(each["index"]) in learned and int(each["resets"]) <= 1 and int(each.get("episodes") or 0) >= 1:
            short.setdefault(name_of(each), []).append(each)
    for made in short.values():
        # Beside each other in a list they would be stepped in the same phases: that is another fault.
        if all(int(each.get("phases") or 0) <= 1 for each in made):
            yield made, [seed for each in made for seed in each.get("seeds") or (None,)], len(made)


def _starts(script: Script, streams: set[int]) -> list[NDArray[np.float32]]:
    found: dict[bytes, NDArray[np.float32]] = {}
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            continue
        for place in np.flatnonzero(np.isin(nodes.stream, list(streams)) & nodes.first):
            obs = nodes.obs[place]
            if not np.isnan(obs).all():
                found[obs.tobytes()] = obs
    return list(found.values())


def _others_differ(script: Script, streams: Sequence[Stream], starts: Sequence[NDArray[np.float32]]) -> bool:
    """Whether others of the kind, given other seeds, begin otherwise: then the seed does decide."""
    own = {int(each["index"]) for each in streams}
    alike = {int(each["index"]) for each in script.streams if name_of(each) == name_of(streams[0])} - own
    known = {each.tobytes() for each in starts}
    return bool(known) and any(each.tobytes() not in known for each in _starts(script, alike))


def _drawn(obs: NDArray[np.float32]) -> bool:
    """Whether numbers in it look drawn: not whole, and no round fractions."""
    cells = np.asarray(obs, dtype=np.float64)
    cells = cells[np.isfinite(cells)]
    thousands, binary = cells * 1000, cells * 1024
    return bool(((np.abs(thousands - np.round(thousands)) > 1e-3) & (np.abs(binary - np.round(binary)) > 1e-3)).any())
