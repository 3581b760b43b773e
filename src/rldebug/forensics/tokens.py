"""Sequences that a language model wrote, and what it learned from them: the same tokens, met again in the losses.

A round is what was sampled, token by token, and the passes that learned from it. Each row of a pass is found among the
written ones by its tokens; which of its places were written, with what log-prob, and how hard each was pushed is
then known, whatever form the loss has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.token_places import aligned, all_shifted, at_temperature, time_first, turned
from rldebug.forensics.token_rows import find_rows, starts, with_last
from rldebug.forensics.token_writings import Writing, groups_of, samples_of, with_prompts_of, writings_of

__all__ = ["Pass", "Round", "Writing", "groups_of", "pushed_places", "rounds", "written_places"]

_FAINT = 1e-4  # of the usual push: a place that is pushed less is left alone
_PURE = 0.49  # of the gradient lies on one token, and the rest on all others: it is that of a log-prob
_MATCHED = 0.9  # of the rows of a pass are found among the written ones


@dataclass(frozen=True, eq=False)
class Pass:
    """A batch of sequences that a loss was computed for."""

    call: Event
    gradient: Event
    ids: NDArray[np.int32]  # (B, L)
    rows: NDArray[np.int64]  # (B,) in its writing; -1 where none fits
    start: int  # the place of the first written token
    length: NDArray[np.int64]  # (B,) written tokens, the last one included; -1 where none fits
    ended: NDArray[np.bool_]  # (B,) other tokens follow
    writing: Writing
    earlier: NDArray[np.bool_] | None = None  # (B, L) tokens that it wrote in turns before; None where there were none
    moved: NDArray[np.int64] | None = None  # (B,) places that each row lies further right than the program has it

    @cached_property
    def size(self) -> NDArray[np.float64]:
        """(B, L) how hard the scores at each place are pushed; those at j choose the token at j + 1."""
        return np.asarray(self.gradient.arrays["size"], dtype=np.float64)

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        pushed = self.size[self.size > 0]
        return self.size > (_FAINT * float(np.median(pushed)) if len(pushed) else np.inf)

    @cached_property
    def pure(self) -> NDArray[np.bool_]:
        """Places whose gradient is that of the log-prob of one token."""
        found: NDArray[np.bool_] = self.active & (np.abs(self.gradient.arrays["push"]) >= _PURE * self.size)
        return found

    @cached_property
    def coefficient(self) -> NDArray[np.float64]:
        """(B, L) what the log-prob of the label is multiplied with, with a plus where it is made more likely."""
        push = np.asarray(self.gradient.arrays["push"], dtype=np.float64)
        chance = self.gradient.arrays.get("chance")
        if chance is None:
            return np.full(push.shape, np.nan)
        left = 1.0 - np.exp(np.asarray(chance, dtype=np.float64))
        slope = self.gradient.get("slope") or 1.0
        return np.where(self.pure & (left > 1e-3), push / np.maximum(left, 1e-3) / slope, np.nan)

    def labels_at(self, shift: int) -> float:
        """Share of the places, of those with a label of their own, whose label is the token `shift` places on."""
        label = self.gradient.arrays["label"]
        width = self.ids.shape[1] - shift
        seen = self.pure[:, :width] & (self.rows >= 0)[:, None]
        if seen.sum() < 16:
            return float("nan")
        return float((label[:, :width] == self.ids[:, shift:])[seen].mean())

    @property
    def at_once(self) -> bool:
        """Before any step since it was written."""
        return self.call.update == self.writing.update


@dataclass(frozen=True, eq=False)
class Round:
    audit: Audit
    writings: Sequence[Writing]
    passes: Sequence[Pass]
    held: Sequence[tuple[str, NDArray[Any]]] = field(default=())  # variables of the program, when it began to learn
    valued: Sequence[Pass] = field(default=())  # batches that a critic was trained with: see `value-gradient`
    reference: NDArray[np.float64] | None = None  # (B, T) what another network gives the tokens; NaN where not known


_KNOWN: WeakKeyDictionary[Script, list[Round]] = WeakKeyDictionary()


def rounds(script: Script) -> list[Round]:
    if script not in _KNOWN:
        _KNOWN[script] = [each for audit in script.audits for each in _rounds(audit)]
    return _KNOWN[script]


def _rounds(audit: Audit) -> list[Round]:
    calls = [each for each in audit.events if each.kind == "tokens"]
    if not calls:
        return []
    pushes = {int(each["of"]): each for each in audit.events if each.kind == "token-gradient"}
    found: list[Round] = []
    samples = samples_of(audit)
    down = time_first(calls, samples)
    values = {each.order: each for each in audit.events if each.kind == "token-values"}
    felt = [(values[int(each["of"])], each) for each in audit.of("value-gradient") if int(each["of"]) in values]
    if down:
        calls, pushes = [turned(each) for each in calls], {order: turned(each) for order, each in pushes.items()}
        felt = [(turned(one), turned(other)) for one, other in felt]
    learning = sorted(each.order for each in calls if each.order in pushes)
    while learning and samples:
        first = learning[0]
        before = [each for each in samples if each[0] < first]
        later = [each for each in samples if each[0] > first]
        until = min((each[0] for each in later), default=10**9)
        now = [each for each in calls if first <= each.order < until and each.order in pushes]
        learning = [each for each in learning if each >= until]
        samples = later
        writings = writings_of(audit, before, calls)
        if not writings:
            continue
        held = [
            (str(name), each.arrays[str(place)])
            for each in audit.events
            if each.kind == "held" and first <= each.order < until
            for place, name in enumerate(each["names"])
        ]
        if down:
            held = [(name, each.T if each.ndim == 2 else each) for name, each in held]
        lying = [call.arrays["ids"] for call in calls if before[0][0] < call.order < first]
        lying += [array for _, array in held if array.ndim == 2 and array.dtype.kind in "iu"]
        writings = [with_prompts_of(each, lying) for each in writings]
        passes = [made for each in now if (made := _pass(each, pushes[each.order], writings)) is not None]
        writings, passes = _with_prompts(writings, passes)
        inside = [each for each in felt if first - 8 <= each[0].order < until]
        critic = [made for each in inside if (made := _pass(*each, writings)) is not None]
        reference = _reference(writings, calls, before[0][0], first)
        if reference is None:  # asked beside the policy, for the loss
            reference = _reference(
                writings, [each for each in calls if each.update == writings[0].update], first, until
            )
        found.append(Round(audit, writings, passes, held, critic, reference))
    return found


def _reference(writings: Sequence[Writing], calls: Sequence[Event], begin: int, end: int) -> NDArray[np.float64] | None:
    """The log-probs that a network that wrote nothing gives the written tokens, before they are learned from."""
    asked = [each for each in calls if begin < each.order < end and not each["grad"] and "logp" in each.arrays]
    asked = [each for each in asked if len(writings) == 1 and each["module"] != writings[0].module]
    if not asked:
        return None
    count, width = writings[0].tokens.shape
    found = np.full((count, width), np.nan)
    for each in (at_temperature(call, writings[0].inverse_temperature) for call in asked):
        one = _pass(each, Event(0, "", 0, 0, {}, {}), writings) if each["module"] == asked[0]["module"] else None
        if one is None:
            continue
        for row in np.flatnonzero(one.rows >= 0):
            own = one.call.arrays["logp"][row, one.start - 1 : one.start - 1 + int(one.length[row])]
            found[int(one.rows[row]), : len(own)] = own[:width]
    return found if np.isfinite(found).any() else None


def _pass(call: Event, gradient: Event, writings: Sequence[Writing]) -> Pass | None:
    ids = call.arrays["ids"]
    best: Pass | None = None
    for writing in writings:  # of several turns the last one counts
        if writing.prompts is not None and writing.prompts.min() < 0:
            continue
        here: Pass | None = None
        for start in starts(ids, writing.tokens, writing.prompts):
            rows, length, ended = find_rows(ids, start, writing.tokens, writing.prompts)
            if here is None or (rows >= 0).sum() > (here.rows >= 0).sum():
                here = Pass(call, gradient, ids, rows, start, length, ended, writing)
        if here is not None and (best is None or (here.rows >= 0).sum() >= (best.rows >= 0).sum()):
            best = here
    if best is None or (best.rows >= 0).mean() < _MATCHED:
        return _moved(call, gradient, writings[0]) if len(writings) == 1 else None
    if best.start + best.writing.tokens.shape[1] == ids.shape[1] + 1:
        best = _whole(best)
    return replace(best, earlier=_earlier(best, writings)) if len(writings) > 1 else best


def _moved(call: Event, gradient: Event, writing: Writing) -> Pass | None:
    """Where prompts of different lengths stand before the answers: as if they all ended at the same place."""
    if writing.prompts is None:
        return None
    found = aligned(call.arrays["ids"], writing.tokens, writing.prompts)
    if found is None or (found.rows >= 0).mean() < _MATCHED:
        return None
    earlier = None
    if writing.own is not None:
        earlier = np.zeros(found.ids.shape, dtype=bool)
        width = min(found.start, writing.own.shape[1])
        earlier[:, found.start - width : found.start] = writing.own[found.rows, writing.own.shape[1] - width :]
        earlier &= (found.rows >= 0)[:, None]
    arrays = {**gradient.arrays, **all_shifted(gradient.arrays, found.moved)}
    pushed = replace(gradient, arrays=arrays)
    known = replace(call, arrays={**call.arrays, **all_shifted(call.arrays, found.moved)})
    return Pass(
        known, pushed, found.ids, found.rows, found.start, found.length, found.ended, writing, earlier, found.moved
    )


def _earlier(each: Pass, writings: Sequence[Writing]) -> NDArray[np.bool_]:
    """Where the prompt of the last turn is what the model wrote in a turn before, in answer to the same beginning."""
    found = np.zeros(each.ids.shape, dtype=bool)
    for writing in writings:
        prompts = writing.prompts
        if prompts is None or prompts.shape[1] >= each.start or len(writing.tokens) != len(each.writing.tokens):
            continue
        begin, width = prompts.shape[1], min(writing.tokens.shape[1], each.start - prompts.shape[1])
        for row in np.flatnonzero(each.rows >= 0):
            own, at = each.ids[row], int(each.rows[row])
            if np.array_equal(own[:begin], prompts[at]):
                same = own[begin : begin + width] == writing.tokens[at, :width]
                found[row, begin : begin + width] |= np.logical_and.accumulate(same)
    return found


def _whole(each: Pass) -> Pass:
    """The network was given all tokens but the last, which is put back: its scores choose nothing."""
    one, writing = each.ids.shape[1], each.writing
    ids = with_last(each.ids, each.start, each.rows, each.length, writing.tokens)
    rows, length, ended = find_rows(ids, each.start, writing.tokens, writing.prompts)
    behind = {
        name: np.pad(array, ((0, 0), (0, 1)), constant_values=-1 if name == "label" else 0)
        for name, array in each.gradient.arrays.items()
        if array.ndim == 2 and array.shape[1] == one
    }
    call = dict(each.call.arrays)
    for name in ("logp", "values"):
        if name in call:
            call[name] = np.pad(call[name], ((0, 0), (0, 1)), constant_values=np.nan)
    gradient = replace(each.gradient, arrays={**each.gradient.arrays, **behind})
    return Pass(replace(each.call, arrays=call), gradient, ids, rows, each.start, length, ended, writing)


def _with_prompts(writings: Sequence[Writing], passes: Sequence[Pass]) -> tuple[list[Writing], list[Pass]]:
    """Prompts that nobody saw being read stand before the answers in what is learned."""
    known: dict[int, Writing] = {}
    for writing in writings:
        own = [each for each in passes if each.writing is writing]
        if writing.prompts is not None or len({each.start for each in own}) != 1:
            continue
        prompts = np.full((len(writing.tokens), own[0].start), -1, dtype=np.int32)
        for each in own:
            prompts[each.rows[each.rows >= 0]] = each.ids[each.rows >= 0, : each.start]
        if (prompts >= 0).all():
            known[id(writing)] = replace(writing, prompts=prompts)
    return (
        [known.get(id(each), each) for each in writings],
        [replace(each, writing=known.get(id(each.writing), each.writing)) for each in passes],
    )


def written_places(each: Pass) -> Mapping[str, NDArray[np.bool_]]:
    """(B, L) masks of the places whose scores choose: a token of the prompt, a written one, filler after the end."""
    place = np.arange(each.ids.shape[1])[None, :] + 1  # of the token that is chosen
    known = (each.rows >= 0)[:, None]
    end = (each.start + each.length)[:, None]
    inside = place < each.ids.shape[1]
    several = each.ids.shape[1] - end >= 2  # a single one may be an end that was forced
    earlier = np.zeros(each.ids.shape, dtype=bool) if each.earlier is None else each.earlier
    before = np.pad(earlier[:, 1:], ((0, 0), (0, 1)))
    return {
        "prompt": known & (place < each.start) & inside & ~before & (each.ids >= 0),
        "written": known & (place >= each.start) & (place < end) & inside,
        "first": known & (place == each.start) & inside,
        "last": known & (place == end - 1) & each.ended[:, None] & inside,
        "filler": known & (place >= end) & each.ended[:, None] & inside & several,
    }


def pushed_places(script: Script, kind: str) -> tuple[int, int, Pass | None]:
    """Of the places of a kind ("prompt", "filler") in sequences that are learned: how many there are, how many are
    pushed, and the first pass that pushes one. Other sequences may have been left out, or have no advantage."""
    judged = pushed = 0
    first = None
    for each in (one for found in rounds(script) for one in found.passes):
        if not each.labels_at(1) >= 0.9:
            continue
        places = written_places(each)
        learned = np.asarray((each.active & places["written"]).any(axis=1))
        asked = places[kind] & learned[:, None]
        judged += int(asked.sum())
        pushed += int((each.active & asked).sum())
        first = first or (each if (each.active & asked).any() else None)
    return judged, pushed, first
