"""The network acts on inputs of one scale and learns from inputs of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import calls_of, owned
from rldebug.forensics.populations import Population, populations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActingInputDiffers(Rule):
    """The network acts on inputs of one scale and learns from another.

    ## What it checks
    The inputs a network is given to act and to learn, over all audits. One kind are observations as the environment
    handed them out, the other kind are not; and their ranges lie far apart in many elements. Where one and the same
    observations are seen in both ways, few audits are enough.

    ## Why it matters
    What is learned is about inputs that never come up when acting.

    ## Likely causes
    1. Observations are normalised to act, and stored and sampled as they came; or the other way round. Confirm: print
       mean and deviation of the input at both calls.
    2. The replay is sampled without the normaliser (`sample(batch_size, env=...)` in Stable-Baselines3). Confirm: the
       same.
    3. Statistics were copied once, and go on being updated in one of the places. Confirm: compare them.
    4. A connector of RLlib changes the observation on its way to the module, and does not write it into the episode:
       the learner gets it as it came. Confirm: print the input in `_forward_exploration` and in `_forward_train`.

    ## What to try first
    Normalise in one function, at every call of the network.

    ## When it is fine
    Statistics that move slowly make small differences; those are not counted.

    ## References
    Seen in the wild: BUF-15, NRM-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM304"
    name: ClassVar[str] = "acting-input-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 48  # of each use
    factor: float = 4.0  # between the ranges of an element
    share: float = 0.5  # of the elements must be so far apart
    audits: int = 3  # with both uses
    met: int = 128  # observations that were given in both ways within one audit: then fewer audits are enough

    def check(self, evidence: Script) -> Iterator[Finding]:
        mine = [
            each for each in populations(evidence) if not each.wide and len(each.rows) >= self.rows and not each.whole
        ]
        pairs = [
            (act, learn)
            for act in mine
            if act.use == "acting"
            for learn in mine
            if learn.use in ("learning", "other") and learn.shape == act.shape
            if learn.module == act.module
            or not owned(evidence, learn.module)
            or _acts_for(evidence, act.module, learn.module)
        ]
        if not pairs:
            raise NotEnough("no network was seen both acting and learning often enough")
        for act, learn in pairs:
            if not self._kinds_differ(act, learn):
                continue
            if min(act.audits, learn.audits) < self.audits and _met(evidence, act, learn) < self.met:
                continue
            here, there = act.range, learn.range
            moves = (here > 1e-9) & (there > 1e-9)
            ratio = np.where(moves, np.maximum(here, 1e-12) / np.maximum(there, 1e-12), 1.0)
            apart = (ratio > self.factor) | (ratio < 1 / self.factor) | self._elsewhere(act, learn)
            if apart.sum() >= max(1, self.share * len(apart)):
                worst = int(np.abs(np.log(ratio)).argmax())
                yield self.finding(
                    "the network acts on inputs of one scale and learns from inputs of another",
                    where=learn.first.where,
                    seen=f"element {worst} of the input lies in {act.low[worst]:.3g} … {act.high[worst]:.3g} to "
                    "act, in "
                    f"{learn.low[worst]:.3g} … {learn.high[worst]:.3g} to learn; {int(apart.sum())} of "
                    f"{len(apart)} elements differ so",
                    expected="inputs prepared in the same way",
                    help="normalise observations in one function, used wherever the network is called",
                    confidence=0.93,
                )
                return

    def _kinds_differ(self, act: Population, learn: Population) -> bool:
        """One kind are observations as they were handed out, the other kind are none."""
        raw = {"raw", "slice", "one-hot"}
        act_raw, learn_raw = (
            sum(count for way, count in each.ways.items() if way in raw) / max(sum(each.ways.values()), 1)
            for each in (act, learn)
        )
        return (act_raw > 0.95 and learn.found < 0.1) or (act_raw < 0.05 and learn_raw > 0.9)

    def _elsewhere(self, act: Population, learn: Population) -> np.ndarray:
        """The middles lie further apart than three times the wider range."""
        middles = np.abs(np.median(act.rows, axis=0) - np.median(learn.rows, axis=0))
        return np.asarray(middles > 3 * np.maximum(act.range, learn.range) + 1e-6)


def _met(script: Script, act: Population, learn: Population) -> int:
    """Observations that came up once and were given to act in one way, and in the same audit to learn in the other."""
    ways: dict[str, dict[tuple[int, int], str]] = {"act": {}, "learn": {}}
    for call in calls_of(script):
        use = "act" if call.event.get("acting") else "learn"
        if call.module != (act if use == "act" else learn).module or call.input is None:
            continue
        places = call.places[call.known]
        single = places[call.audit.nodes.alike[places] == 0]
        for each in call.audit.nodes.id[single].tolist():
            ways[use].setdefault((call.audit.number, each), str(call.event["match"]))
    return sum(way != ways["learn"].get(each, way) for each, way in ways["act"].items())


def _acts_for(script: Script, actor: str, learner: str) -> bool:
    """A copy of the network that learns, which no optimizer owns: its weights are sent to it, as to an env runner."""
    if owned(script, actor) or not {actor, learner} <= set(script.modules):
        return False
    return bool(script.modules[actor].get("class") == script.modules[learner].get("class"))
