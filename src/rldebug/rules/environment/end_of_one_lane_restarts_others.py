"""Where an episode ends, the other lanes are set back as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.node_places import begins
from rldebug.forensics.worlds import Stream, name_of, training_streams
from rldebug.rule import NotEnough, Rule

_LANES = 3  # that go on: fewer are the same by chance


@dataclass(frozen=True, kw_only=True)
class EndOfOneLaneRestartsOthers(Rule):
    """Where an episode ends, the other lanes are set back as well.

    ## What it checks
    In a vector of environments, how far each observation lies from the one before, within episodes. Steps just after
    the end of an episode in another lane are held against all others: most of them go further in some element than
    any of the others does. Or an element in which lanes nearly always differ is the same number in all of them, each
    time that an episode ends in one.

    ## Why it matters
    The episodes of the other lanes are cut there, without a flag. Values are carried from where one episode broke off
    to where the next begins, so that critic and advantages learn from steps that no action made.

    ## Likely causes
    1. The vector is reset as a whole where one lane ends: `if done.any(): self.reset()`. Confirm: print the lanes that
       are reset.
    2. `_reset` of a batched TorchRL environment does not look at the mask `"_reset"` that it is given. Confirm: print
       it, and the state before and after.
    3. The mask has another shape than the state, and is broadcast. Confirm: print both shapes.
    4. One array of the state is set back without the mask: `queue[:] = 0` for `queue[ended] = 0`. Confirm: look at the
       lines that set the state back, and which of them has no index.

    ## What to try first
    Reset the lanes that ended, and no others: `state = torch.where(mask, fresh, state)`.

    ## When it is fine
    Lanes that are players of one game, which begins anew for all of them. Then the end of one is that of all: say so.

    ## References
    TorchRL, *EnvBase* (`_reset` and partial resets). Gymnasium, *VectorEnv*.
    """

    code: ClassVar[str] = "ENV318"
    name: ClassVar[str] = "end-of-one-lane-restarts-others"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "reset"
    explains: ClassVar[tuple[str, ...]] = ("ENV308",)

    beside: int = 12  # steps beside the end of an episode
    others: int = 100  # steps that are not
    further: float = 0.6  # share of the former that go further than all of the latter
    calls: int = 4  # in which that was so
    ends: int = 8  # calls in which an episode ended, after which an element is the same in all other lanes, and
    goes_on: int = 40  # calls in which none did, of which
    alike: float = 0.05  # at most this share has it the same
    narrow: int = 16  # others for each element: so rarely is one of a few numbers the largest by chance

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            if int(stream.get("lanes") or 1) < 2 or len(stream.get("shape") or ()) != 1:
                continue
            if alike := self._set_alike(evidence, stream):
                yield from alike
                return
            steps = [_steps(audit.nodes, int(stream["index"])) for audit in evidence.audits]
            found = [each for each in steps if each is not None]
            if not found:
                continue
            jump, beside, call = (np.concatenate(each) for each in zip(*found, strict=True))
            count = int(beside.sum())
            most = max(most, count)
            if count < self.beside or (~beside).sum() < max(self.others, self.narrow * jump.shape[1]):
                continue
            usual = jump[~beside].max(axis=0)
            far = (jump[beside] > usual * 1.01 + 1e-6).any(axis=1)
            if far.mean() < self.further or len(np.unique(call[beside][far])) < self.calls:
                continue
            yield self.finding(
                f"where the episode of one lane ends, {name_of(stream)} sets the others back too",
                seen=f"{int(far.sum())} of {count} steps just after the end of an episode in another lane go further "
                f"than any of {int((~beside).sum())} other steps, and none of them is flagged as an end",
                expected="lanes that go on as they were, whatever happens in another one",
                help="reset the lanes that ended, and no others",
                confidence=0.9,
            )
            return
        if most < self.beside:
            raise NotEnough(f"{most} steps beside the end of an episode in another lane, needs {self.beside}")

    def _set_alike(self, evidence: Script, stream: Stream) -> list[Finding]:
        """A part of the state that is given one value in all lanes where the episode of one ends."""
        rounds = [one for audit in evidence.audits for one in _rounds(audit.nodes, int(stream["index"]))]
        after = [(each, values) for each, values, ended in rounds if ended]
        rest = [each for each, _, ended in rounds if not ended]
        if len(after) < self.ends or len(rest) < self.goes_on:
            return []
        values = np.stack([each for _, each in after])
        same = np.stack([each for each, _ in after]).all(axis=0) & (values == values[0]).all(axis=0)
        elements = np.flatnonzero(same & (np.stack(rest).mean(axis=0) <= self.alike))
        if not len(elements):
            return []
        differ = sum(not each[elements].any() for each in rest)
        told = ", ".join(f"{each} is {values[0, each]:.4g}" for each in elements[:4].tolist())
        seen = f"in {len(after)} of {len(after)} calls in which an episode ended, in all other lanes element {told}; "
        return [
            self.finding(
                f"where the episode of one lane ends, a part of {name_of(stream)} is set back in the others too",
                seen=seen + f"in {differ} of {len(rest)} calls without an end they differ",
                expected="lanes that go on as they were, whatever happens in another one",
                help="set the lanes back that ended, and no others: array[ended] = …, not array[:] = …",
                confidence=0.9,
            )
        ]


def _rounds(nodes: Nodes, stream: int) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
    """Of each call, going by the lanes whose episode goes on: which elements are the same in all of them, the first of
    them, and whether the episode of another ended."""
    own = (nodes.stream == stream) & ~nodes.phantom
    ended = _led_to(nodes, own & (nodes.terminated | nodes.truncated))
    ends = set(nodes.call[ended[ended >= 0]].tolist())
    reached = nodes.index(nodes.nxt[own & nodes.acted & ~nodes.terminated & ~nodes.truncated])
    reached = reached[reached >= 0]
    if not len(reached):
        return
    order = np.argsort(nodes.call[reached], kind="stable")
    calls, starts = np.unique(nodes.call[reached][order], return_index=True)
    for call, rows in zip(calls.tolist(), np.split(reached[order], starts[1:]), strict=True):
        obs = nodes.obs[rows]
        if len(rows) >= _LANES and obs.shape[1] and np.isfinite(obs).all():
            yield (obs == obs[0]).all(axis=0), obs[0], call in ends


def _led_to(nodes: Nodes, ended: np.ndarray) -> np.ndarray:
    """Places of what the last steps of episodes led to; where nobody was told, of the beginnings that came instead."""
    return nodes.index(np.where(nodes.nxt[ended] >= 0, nodes.nxt[ended], nodes.succ[ended]))


def _steps(nodes: Nodes, stream: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Of each step within an episode how far it goes, element by element; whether another lane ended in the call that
    gave it or in the one before, and the call."""
    own = (nodes.stream == stream) & ~nodes.phantom
    ended = _led_to(nodes, own & (nodes.terminated | nodes.truncated))
    ends = nodes.call[ended[ended >= 0]]
    # Where a lane has just begun, it was this lane that ended: its first step is like any other, and says nothing.
    places = np.flatnonzero(own & nodes.acted & ~nodes.terminated & ~nodes.truncated & ~begins(nodes))
    reached = nodes.index(nodes.nxt[places])
    places, reached = places[reached >= 0], reached[reached >= 0]
    jump = np.abs(nodes.obs[reached] - nodes.obs[places]).astype(np.float64)
    known = np.isfinite(jump).all(axis=1)
    if not jump.shape[1] or not known.any():
        return None
    places, reached, jump = places[known], reached[known], jump[known]
    same, after = np.isin(nodes.call[reached], ends), np.isin(nodes.call[places], ends)
    # One that resets itself sets the others back in the step that ends; one that is reset, before the step after it.
    return _of(jump, same, after, nodes.call[reached])


def _of(
    jump: np.ndarray, same: np.ndarray, after: np.ndarray, call: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    usual = jump[~(same | after)]
    if not len(usual):
        return jump, same | after, call
    far = (jump > usual.max(axis=0) * 1.01 + 1e-6).any(axis=1)
    beside = same if far[same].sum() > far[after].sum() else after
    keep = beside | ~(same | after)
    return jump[keep], beside[keep], call[keep]
