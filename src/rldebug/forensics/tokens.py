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
from rldebug.forensics.token_rows import find_rows, starts, with_last

_FAINT = 1e-4  # of the usual push: a place that is pushed less is left alone
_PURE = 0.49  # of the gradient lies on one token, and the rest on all others: it is that of a log-prob
_MATCHED = 0.9  # of the rows of a pass are found among the written ones


@dataclass(frozen=True, eq=False)
class Writing:
    """What was sampled: one token of every row at a time."""

    update: int
    module: str
    prompts: NDArray[np.int32] | None  # (B, P); None where they are not known
    tokens: NDArray[np.int64]  # (B, T) as sampled: a program puts others in their place once a row has ended
    logp: NDArray[np.float64]  # (B, T, V) of the sampler
    scores: Sequence[NDArray[np.float32] | None]  # T times (≤ B, V): what the network said before

    @cached_property
    def inverse_temperature(self) -> float | None:
        """By how much the scores were multiplied before tokens were drawn; None where that was not all."""
        slopes = []
        for place, scores in enumerate(self.scores):
            if scores is None:
                continue
            for x, y in zip(scores, self.logp[:, place], strict=False):
                keep = np.isfinite(y) & (y > -30)
                if len(x) != len(y) or keep.sum() < 4 or x[keep].std() < 1e-3:
                    continue
                a, b = x[keep] - x[keep].mean(), y[keep] - y[keep].mean()
                slope = float(a @ b / (a @ a))
                if np.abs(b - slope * a).max() > 1e-2 * max(1.0, float(np.abs(b).max())):
                    return None  # a penalty, noise: it is not the same function
                slopes.append(slope)
        return float(np.median(slopes)) if len(slopes) >= 16 else None


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
    learning = sorted(each.order for each in calls if each.order in pushes)
    found: list[Round] = []
    samples = _samples(audit)
    while learning and samples:
        first = learning[0]
        before = [each for each in samples if each[0] < first]
        later = [each for each in samples if each[0] > first]
        until = min((each[0] for each in later), default=10**9)
        now = [each for each in calls if first <= each.order < until and each.order in pushes]
        learning = [each for each in learning if each >= until]
        samples = later
        writings = _writings(audit, before, calls)
        if not writings:
            continue
        held = [
            (str(name), each.arrays[str(place)])
            for each in audit.events
            if each.kind == "held" and first <= each.order < until
            for place, name in enumerate(each["names"])
        ]
        lying = [call.arrays["ids"] for call in calls if before[0][0] < call.order < first]
        lying += [array for _, array in held if array.ndim == 2 and array.dtype.kind in "iu"]
        writings = [_asked(each, lying) for each in writings]
        passes = [made for each in now if (made := _pass(each, pushes[each.order], writings)) is not None]
        writings, passes = _with_prompts(writings, passes)
        found.append(Round(audit, writings, passes, held))
    return found


def _samples(audit: Audit) -> list[tuple[int, int, NDArray[np.int64], NDArray[np.float64]]]:
    """Order, update, tokens (B,) and log-probs (B, V) of each time that one token of every row was drawn."""
    found = []
    for event in audit.events:
        result, params = event.arrays.get("result"), event.arrays.get("params")
        if event.kind != "sample" or result is None or params is None or len(result) != len(params):
            continue
        names = event.get("params") or []
        if params.ndim != 2 or params.shape[1] < 4 or names not in (["probs"], ["logits"]):
            continue
        tokens = result.reshape(len(result), -1)
        if tokens.shape[1] != 1 or tokens.dtype.kind not in "iu":
            continue
        orders = event.arrays.get("orders", np.full(len(tokens), event.order))
        updates = event.arrays.get("updates", np.full(len(tokens), event.update))
        logp = _log_probs(params.astype(np.float64), names == ["probs"])
        for order in np.unique(orders):
            at = orders == order
            found.append((int(order), int(updates[at][0]), tokens[at, 0].astype(np.int64), logp[at]))
    return sorted(found, key=lambda each: each[0])


def _log_probs(params: NDArray[np.float64], probs: bool) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logits = np.log(params) if probs else params
    top = logits.max(axis=1, keepdims=True)
    found: NDArray[np.float64] = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    return found


def _writings(audit: Audit, samples: Sequence[Any], calls: Sequence[Event]) -> list[Writing]:
    """Samples that follow each other, of as many rows each. One begins where the network is given a prompt anew."""
    groups: list[list[Any]] = []
    calls = [each for each in calls if not each["grad"]]
    for each in samples:
        before = [call for call in calls if call.order < each[0]]
        call = before[-1] if before and len(before[-1].arrays["ids"]) == len(each[2]) else None
        last = groups[-1][-1] if groups else None
        anew = last is None or len(last[0][2]) != len(each[2]) or last[0][1] != each[1]
        if not anew and call is not None and last is not None and last[1] is not None:
            anew = not _goes_on(last[1].arrays["ids"], call.arrays["ids"])
        if anew:
            groups.append([])
        groups[-1].append((each, call))
    found = []
    for group in groups:
        tokens = np.stack([each[2] for each, _ in group], axis=1)
        widths = {each[3].shape[1] for each, _ in group}
        if len(widths) > 1 or tokens.shape[1] < 2:
            continue
        scores = [
            None if call is None or "last" not in call.arrays or call.order > each[0] else call.arrays["last"]
            for each, call in group
        ]
        prompts = None
        for place, (_, call) in enumerate(group):
            if call is not None and call.arrays["ids"].shape[1] > place:
                prompts = call.arrays["ids"][:, : call.arrays["ids"].shape[1] - place]
                if prompts.shape[1] > 1 or place == 0:
                    break
        module = next((str(call["module"]) for _, call in group if call is not None), "")
        logp = np.stack([each[3] for each, _ in group], axis=1)
        found.append(Writing(group[0][0][1], module, prompts, tokens, logp, scores))
    return _together(found)


def _goes_on(before: NDArray[np.int32], now: NDArray[np.int32]) -> bool:
    """Whether the rows are those from before and a token more; or the new token alone; or a window that moved on."""
    if now.shape[1] in (1, before.shape[1] + 1):
        return True
    return now.shape == before.shape and float((now[:, :-1] == before[:, 1:]).mean()) > 0.9


def _together(found: list[Writing]) -> list[Writing]:
    """One prompt after the other: rows of one and the same round."""
    first = found[0] if found else None
    if first is None or len(found) == 1 or first.prompts is None:
        return found
    width, size = max(each.tokens.shape[1] for each in found), first.logp.shape[2]
    for each in found:
        if each.prompts is None or each.prompts.shape[1] != first.prompts.shape[1] or each.update != first.update:
            return found
        if each.logp.shape[2] != size or each.module != first.module:
            return found
    tokens = [np.pad(each.tokens, ((0, 0), (0, width - each.tokens.shape[1])), constant_values=-1) for each in found]
    logp = [
        np.pad(each.logp, ((0, 0), (0, width - each.tokens.shape[1]), (0, 0)), constant_values=np.nan) for each in found
    ]
    prompts = np.concatenate([each.prompts for each in found if each.prompts is not None])
    return [Writing(first.update, first.module, prompts, np.concatenate(tokens), np.concatenate(logp), first.scores)]


def _pass(call: Event, gradient: Event, writings: Sequence[Writing]) -> Pass | None:
    ids = call.arrays["ids"]
    best: Pass | None = None
    for writing in writings:  # of several turns the last one counts
        here: Pass | None = None
        for start in starts(ids, writing.tokens, writing.prompts):
            rows, length, ended = find_rows(ids, start, writing.tokens, writing.prompts)
            if here is None or (rows >= 0).sum() > (here.rows >= 0).sum():
                here = Pass(call, gradient, ids, rows, start, length, ended, writing)
        if here is not None and (best is None or (here.rows >= 0).sum() >= (best.rows >= 0).sum()):
            best = here
    if best is None or (best.rows >= 0).mean() < _MATCHED:
        return None
    if best.start + best.writing.tokens.shape[1] == ids.shape[1] + 1:
        best = _whole(best)
    return replace(best, earlier=_earlier(best, writings)) if len(writings) > 1 else best


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
    if "logp" in call:
        call["logp"] = np.pad(call["logp"], ((0, 0), (0, 1)), constant_values=np.nan)
    gradient = replace(each.gradient, arrays={**each.gradient.arrays, **behind})
    return Pass(replace(each.call, arrays=call), gradient, ids, rows, each.start, length, ended, writing)


def _asked(writing: Writing, lying: Sequence[NDArray[Any]]) -> Writing:
    """With the prompts that nobody saw being read: they stand before the answers in what is scored, or held."""
    for array in lying if writing.prompts is None else ():
        for start in (array.shape[1] - writing.tokens.shape[1], array.shape[1] - writing.tokens.shape[1] + 1):
            if start < 1 or start >= array.shape[1] or len(array) != len(writing.tokens):
                continue
            if np.array_equal(array[:, start], writing.tokens[:, 0]):
                return replace(writing, prompts=array[:, :start].astype(np.int32))
    return writing


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


def groups_of(writing: Writing) -> NDArray[np.int64] | None:
    """Which rows answer the same prompt: blocks of equal size, or the same prompts over and over."""
    if writing.prompts is None:
        return None
    _, names = np.unique(writing.prompts, axis=0, return_inverse=True)
    names = np.ravel(names)
    changes = np.flatnonzero(np.diff(names)) + 1
    count = len(names)
    if not len(changes):
        return None
    block = int(np.gcd.reduce(np.concatenate([changes, [count]])))
    if block > 1:
        return np.arange(count) // block
    for period in range(2, count // 2 + 1):
        if count % period == 0 and (names.reshape(-1, period) == names[:period]).all():
            return np.arange(count) % period
    return None


def written_places(each: Pass) -> Mapping[str, NDArray[np.bool_]]:
    """(B, L) masks of the places whose scores choose: a token of the prompt, a written one, filler after the end."""
    place = np.arange(each.ids.shape[1])[None, :] + 1  # of the token that is chosen
    known = (each.rows >= 0)[:, None]
    end = (each.start + each.length)[:, None]
    inside = place < each.ids.shape[1]
    several = each.ids.shape[1] - end >= 2  # a single one may be an end that was forced
    before = np.zeros_like(each.active) if each.earlier is None else np.pad(each.earlier[:, 1:], ((0, 0), (0, 1)))
    return {
        "prompt": known & (place < each.start) & inside & ~before,
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
