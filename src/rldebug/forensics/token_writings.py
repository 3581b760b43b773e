"""Sequences that a language model wrote, token by token: what was drawn, from which scores, in answer to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.token_places import NO_TOKEN


@dataclass(frozen=True, eq=False)
class Writing:
    """What was sampled: one token of every row at a time."""

    update: int
    module: str
    prompts: NDArray[np.int32] | None  # (B, P); None where they are not known
    tokens: NDArray[np.int64]  # (B, T) as sampled: a program puts others in their place once a row has ended
    logp: NDArray[np.float64]  # (B, T, V) of the sampler
    scores: Sequence[NDArray[np.float32] | None]  # T times (≤ B, V): what the network said before
    own: NDArray[np.bool_] | None = None  # (B, P) what it wrote in turns before; None where there were none

    @cached_property
    def inverse_temperature(self) -> float | None:
        """By how much the scores were multiplied before tokens were drawn; None where that was not all."""
        slopes = []
        for place, scores in enumerate(self.scores):
            if scores is None:
                continue
            for x, y in zip(scores, self.logp[:, place], strict=False):
                keep = np.isfinite(y) & (y > -30) & np.isfinite(x) if len(x) == len(y) else np.zeros(0, dtype=bool)
                if keep.sum() < 4 or x[keep].std() < 1e-3:
                    continue
                a, b = x[keep] - x[keep].mean(), y[keep] - y[keep].mean()
                slope = float(a @ b / (a @ a))
                if np.abs(b - slope * a).max() > 1e-2 * max(1.0, float(np.abs(b).max())):
                    return None  # a penalty, noise: it is not the same function
                slopes.append(slope)
        return float(np.median(slopes)) if len(slopes) >= 16 else None


def samples_of(audit: Audit) -> list[tuple[int, int, NDArray[np.int64], NDArray[np.float64]]]:
    """Order, update, tokens (B,) and log-probs (B, V) of each time that one token of every row was drawn."""
    found = []
    for event in audit.events:
        result, params = event.arrays.get("result"), event.arrays.get("params")
        if event.kind != "sample" or result is None or params is None:
            continue
        alone = params.ndim == 1 and len(result) and len(params) % len(result) == 0
        if alone:  # one distribution each time
            params = params.reshape(len(result), -1)
        names = event.get("params") or []
        if len(result) != len(params):
            continue
        if params.ndim != 2 or params.shape[1] < 4 or names not in (["probs"], ["logits"]):
            continue
        tokens = result.reshape(len(result), -1)
        if tokens.shape[1] != 1 or tokens.dtype.kind not in "iu":
            continue
        orders = event.arrays.get("orders", np.full(len(tokens), event.order))
        updates = event.arrays.get("updates", np.full(len(tokens), event.update))
        if alone and len(orders) > len(tokens):
            orders, updates = (each[:: len(each) // len(tokens)] for each in (orders, updates))
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


def writings_of(audit: Audit, samples: Sequence[Any], calls: Sequence[Event]) -> list[Writing]:
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
        alone = len(tokens) == 1 and len(groups) > 1 and group[0][1] is not None  # one that ended at once
        if len(widths) > 1 or (tokens.shape[1] < 2 and not alone):
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
        told = [call.arrays["ids"] for _, call in group if call is not None]
        if len(told) > 1 and told[0].shape == told[1].shape != (len(tokens), 1) and _filled_in(told[0], told[1]):
            prompts, scores = _before_room(told, len(group) - len(told)), [None] * len(scores)
        module = next((str(call["module"]) for _, call in group if call is not None), "")
        logp = np.stack([each[3] for each, _ in group], axis=1)
        found.append(Writing(group[0][0][1], module, prompts, tokens, logp, scores))
    return _together(found)


def _goes_on(before: NDArray[np.int32], now: NDArray[np.int32]) -> bool:
    """Whether the rows are those from before and a token more; or the new token alone; or a window that moved on."""
    if now.shape[1] == 1:
        return True
    if now.shape == before.shape and _filled_in(before, now):
        return True
    if now.shape[1] == before.shape[1] + 1:
        return before.shape[1] == 1 or float((now[:, :-1] == before).mean()) > 0.9
    return now.shape == before.shape and float((now[:, :-1] == before[:, 1:]).mean()) > 0.9


def _filled_in(before: NDArray[np.int32], now: NDArray[np.int32]) -> bool:
    """Whether there is room for all tokens from the beginning: each row differs in one place at most."""
    return bool((before != now).sum(axis=1).max() <= 1)


def _before_room(told: Sequence[NDArray[np.int32]], missed: int) -> NDArray[np.int32]:
    """What stood before the first token that was filled in, with NO_TOKEN on the left. `missed`: calls before these."""
    first = told[0]
    same = np.logical_and.accumulate((first == first[:, -1:])[:, ::-1], axis=1).sum(axis=1)
    begin = first.shape[1] - same
    for step in range(len(told) - 2, -1, -1):  # a token may be what was there before
        changed = told[step] != told[step + 1]
        begin = np.where(changed.any(axis=1), np.maximum(changed.argmax(axis=1) - step - missed, 0), begin)
    found = np.full((len(first), max(int(begin.max()), 1)), NO_TOKEN, dtype=np.int32)
    for row, size in enumerate(begin.tolist()):
        found[row, found.shape[1] - size :] = first[row, :size] if size else []
    return found


def _together(found: list[Writing]) -> list[Writing]:
    """One prompt after the other: rows of one and the same round. Of several turns of each the last one counts."""
    first = found[0] if found else None
    if first is None or len(found) == 1 or any(each.prompts is None for each in found):
        return found
    if any(
        (each.update, each.module, each.logp.shape[2]) != (first.update, first.module, first.logp.shape[2])
        for each in found
    ):
        return found
    talks: list[list[Writing]] = []
    for each in found:
        talk = next((one for one in reversed(talks) if _answers_to(one[-1], each)), None)
        if talk is None:
            talks.append([each])
        else:
            talk.append(each)
    if len(talks) == 1:
        return found
    last = [talk[-1] for talk in talks]
    width, deep = (max(each.shape[1] for each in group) for group in ([one.tokens for one in last], _prompts(last)))
    own = [_own(talk, deep) for talk in talks]
    behind = [((0, 0), (0, width - each.tokens.shape[1])) for each in last]
    tokens = [np.pad(each.tokens, pad, constant_values=NO_TOKEN) for each, pad in zip(last, behind, strict=True)]
    logp = [np.pad(one.logp, (*pad, (0, 0)), constant_values=np.nan) for one, pad in zip(last, behind, strict=True)]
    prompts = [np.pad(each, ((0, 0), (deep - each.shape[1], 0)), constant_values=NO_TOKEN) for each in _prompts(last)]
    scores = [np.concatenate([_said(each, place) for each in last]) for place in range(width)]
    return [
        Writing(
            first.update,
            first.module,
            np.concatenate(prompts),
            np.concatenate(tokens),
            np.concatenate(logp),
            scores,
            np.concatenate(own) if any(len(talk) > 1 for talk in talks) else None,
        )
    ]


def _prompts(writings: Sequence[Writing]) -> list[NDArray[np.int32]]:
    return [each.prompts for each in writings if each.prompts is not None]


def _answers_to(before: Writing, now: Writing) -> bool:
    """Whether it is the next turn: its prompts go on where the answers of the one before ended."""
    one, other = _prompts([before, now])
    width = one.shape[1]
    if len(one) != len(other) or width >= other.shape[1] or not np.array_equal(one, other[:, :width]):
        return False
    return float((other[:, width] == before.tokens[:, 0]).mean()) > 0.9


def _own(talk: Sequence[Writing], deep: int) -> NDArray[np.bool_]:
    """(B, deep) where the prompt of the last turn is what was written in the turns before."""
    prompts = _prompts(talk)[-1]
    found = np.zeros(prompts.shape, dtype=bool)
    for each in talk[:-1]:
        begin = _prompts([each])[0].shape[1]
        width = min(each.tokens.shape[1], prompts.shape[1] - begin)
        same = prompts[:, begin : begin + width] == each.tokens[:, :width]
        found[:, begin : begin + width] |= np.logical_and.accumulate(same, axis=1)
    return np.pad(found, ((0, 0), (deep - prompts.shape[1], 0)))


def _said(each: Writing, place: int) -> NDArray[np.float32]:
    """(B, V) the scores before a token was drawn; NaN where they are not known."""
    known = each.scores[place] if place < len(each.scores) else None
    found = np.full((len(each.tokens), each.logp.shape[2]), np.nan, dtype=np.float32)
    if known is not None and known.shape[1] == found.shape[1]:
        found[: len(known)] = known[: len(found)]
    return found


def with_prompts_of(writing: Writing, lying: Sequence[NDArray[Any]]) -> Writing:
    """With the prompts that nobody saw being read: they stand before the answers in what is scored, or held."""
    for array in lying if writing.prompts is None else ():
        for start in (array.shape[1] - writing.tokens.shape[1], array.shape[1] - writing.tokens.shape[1] + 1):
            if start < 1 or start >= array.shape[1] or len(array) != len(writing.tokens):
                continue
            if np.array_equal(array[:, start], writing.tokens[:, 0]):
                return replace(writing, prompts=array[:, :start].astype(np.int32))
    return writing


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
