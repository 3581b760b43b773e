"""Exploration begins anew after a checkpoint is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.exploring import blind, discrete, lower_bound, per_action, sampled, upper_bound, valued
from rldebug.forensics.worlds import Stream, evaluation_streams, training_streams
from rldebug.rule import NotEnough, Rule

_UNKNOWN = 0.1  # calls that may have been made to act, for each step, without our knowing of which observation
_PHASES = 20  # of acting and learning, in which an environment is stepped that is trained in


@dataclass(frozen=True, kw_only=True)
class ExplorationBeginsAnew(Rule):
    """Exploration begins anew after a checkpoint is loaded.

    ## What it checks
    Weights came out of a file in the middle of the run, into a network that gives a value for each action. The share of
    steps that were taken at random had fallen before; just after it is far higher again, beyond chance, and about what
    it was at the beginning of the run.

    ## Why it matters
    What was learned is not followed for as long as the schedule takes to come down once more. The replay fills with
    random play, and half of the second sitting is spent on what the first one had left behind.

    ## Likely causes
    1. The counter that epsilon is computed from is not in the checkpoint, or not read from it. Confirm: print epsilon
       before saving and after loading.
    2. Stable-Baselines3: `learn()` is called again without `reset_num_timesteps=False`. Confirm: print
       `model.exploration_rate`.

    ## What to try first
    Save the number of steps with the weights, and go on from it.

    ## When it is fine
    Where the second part is another task, which is to be explored from the beginning. A share that rises and stays
    below what it was at first is not counted: a schedule over the progress of a longer run goes back a little.

    ## References
    Stable-Baselines3, *BaseAlgorithm.learn*: `reset_num_timesteps`.
    """

    code: ClassVar[str] = "CKP270"
    name: ClassVar[str] = "exploration-begins-anew"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("CKP305", "CKP307")

    part: float = 0.5  # of the updates before the file was read, that are looked at on either side of it
    steps: int = 12  # on either side
    first: int = 400  # after it, before a schedule has come down again
    fallen: float = 0.5  # share of random steps before, at most
    growth: float = 0.1  # beyond chance
    begun: float = 0.8  # of the share in as long a stretch at the beginning: one that goes on may rise, and no more

    def check(self, evidence: Script) -> Iterator[Finding]:
        read = sorted(
            {
                int(each.get("update") or 0): each
                for each in evidence.notes
                if each.get("kind") in ("restored", "load") and each.get("file") and int(each.get("update") or 0)
            }.items()
        )
        count = discrete(evidence)
        if not read or count is None or count < 2 or sampled(evidence) or not valued(evidence):
            raise NotEnough("no weights came out of a file amid training, or which steps are random cannot be told")
        kinds = {(each.get("name"), str(each.get("shape"))) for each in _trained(evidence)}
        looked = [each for audit in evidence.audits for each in _steps(evidence, audit)]
        if not looked or len(kinds) != 1:
            raise NotEnough("which steps are random cannot be told, or there are several tasks")
        updates, random = (np.array(column) for column in zip(*looked, strict=True))
        most = 0
        for update, note in read:
            before = random[(updates >= (1 - self.part) * update) & (updates < update)]
            after = random[(updates >= update) & (updates <= (1 + self.part / 2) * update)][: self.first]
            most = max(most, min(len(before), len(after)))
            if min(len(before), len(after)) < self.steps or before.mean() > self.fallen:
                continue
            low, high = upper_bound(int(before.sum()), len(before)), lower_bound(int(after.sum()), len(after))
            beginning = random[updates <= self.part / 2 * update][: self.first]
            if high < low + self.growth or len(beginning) < self.steps or after.mean() < self.begun * beginning.mean():
                continue
            line = note.get("line")
            yield self.finding(
                "exploration begins anew when training goes on from a checkpoint",
                where=Where(line[0], line[1], update=update) if line else Where(update=update),
                seen=f"{int(before.sum())} of {len(before)} steps before {note['file']} was read were random, "
                f"{int(after.sum())} of {len(after)} after it",
                expected="about as many: the schedule goes on",
                help="save the number of steps that epsilon is computed from, and load it; with Stable-Baselines3 "
                "learn(…, reset_num_timesteps=False)",
                confidence=0.85,
            )
            return
        if most < self.steps:
            raise NotEnough(f"{most} steps were seen on either side of a file that was read, needs {self.steps}")


def _trained(script: Script) -> list[Stream]:
    """Also those of a second sitting, of which fewer rows are found again: they are stepped from update to update."""
    amid = [each for each in script.streams if int(each.get("phases") or 0) >= _PHASES]
    main = {each.get("name") for each in training_streams(script)}
    played = evaluation_streams(script)
    return [each for each in amid if each.get("name") in main and int(each["index"]) not in played]


def _steps(script: Script, audit: Audit) -> Iterator[tuple[int, bool]]:
    """Steps in the environments that are trained in: the number of updates before, and whether each was random: no
    network was asked, or another action than its best was taken."""
    nodes = audit.nodes
    trained = [int(each["index"]) for each in _trained(script)]
    mine = np.isin(nodes.stream, trained) & nodes.acted & ~nodes.phantom & (nodes.phase >= audit.phase)
    lanes = len(set(zip(nodes.stream[mine].tolist(), nodes.lane[mine].tolist(), strict=True)))
    if not mine.any() or blind(script, audit, lanes) > _UNKNOWN * mine.sum() / lanes:
        return
    asked, unknown = np.zeros(len(nodes), dtype=bool), np.zeros(len(nodes), dtype=bool)
    best: NDArray[np.int64] = np.full(len(nodes), -1, dtype=np.int64)
    for event in audit.acting:
        rows, output = event.arrays.get("rows"), event.arrays.get("output0")
        if rows is None:
            continue
        places = nodes.index(rows)
        asked[places[places >= 0]] = True
        values = None
        if output is not None and str(event["module"]) in valued(script):
            values = per_action(script, output)
        if values is None or len(values) != len(rows) or values.ndim != 2:
            unknown[places[places >= 0]] = True
            continue
        best[places[places >= 0]] = values[places >= 0].argmax(axis=1)
    if (mine & unknown & (best < 0)).any():
        return  # whoever leaves out what was asked for counts what was not, and finds every step random
    # The first of each lane may have been asked for before the audit began.
    begun: set[tuple[int, int]] = set()
    for place in np.flatnonzero(mine).tolist():
        lane = (int(nodes.stream[place]), int(nodes.lane[place]))
        if best[place] >= 0 or (lane in begun and not asked[place]):
            yield int(nodes.update[place]), bool(best[place] != nodes.action[place, 0])
        begun.add(lane)
