"""Rows of a batch, found again among the answers that were written: by their tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SAME = 0.6  # of the answers that ended have the same last token


def starts(ids: NDArray[np.int32], tokens: NDArray[np.int64], prompts: NDArray[np.int32] | None) -> list[int]:
    """Where answers may begin. A network that is trained to say the next token need not be given the last one."""
    known = {ids.shape[1] - tokens.shape[1], ids.shape[1] - tokens.shape[1] + 1}
    if prompts is not None:
        known.add(prompts.shape[1])
    return sorted(each for each in known if 0 < each < ids.shape[1])


def find_rows(
    ids: NDArray[np.int32], start: int, tokens: NDArray[np.int64], prompts: NDArray[np.int32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The written row that each row is: the same tokens from `start` on, up to where it ended and filler follows."""
    width = min(ids.shape[1] - start, tokens.shape[1])
    rows = np.full(len(ids), -1, dtype=np.int64)
    length = np.full(len(ids), -1, dtype=np.int64)
    ended = np.zeros(len(ids), dtype=bool)
    same_prompt = prompts is not None and prompts.shape[1] == start
    for place, row in enumerate(ids):
        own = row[start : start + width]
        equal = tokens[:, :width] == own
        stop = np.where(equal.all(axis=1), width, np.argmin(equal, axis=1))  # first that differs
        rest = row[start:]
        fills = np.array([each == width or bool((rest[each:] == rest[each]).all()) for each in range(width + 1)])
        fits = fills[stop] & (stop > 0)
        if same_prompt and prompts is not None:
            fits &= (prompts == row[:start]).all(axis=1)
        if fits.any():
            # What is drawn after the end may look like filler; and the same answer, written twice, is two rows.
            bare = np.array([_without(own[:each], int(rest[-1])) for each in range(width + 1)])
            free = ~np.isin(np.arange(len(tokens)), rows)
            likely = 8 * bare[stop] + 4 * free + 2 * (stop == width) + (np.arange(len(tokens)) == place)
            chosen = int(np.argmax(np.where(fits, likely, -1)))
            rows[place], length[place] = chosen, stop[chosen]
            ended[place] = stop[chosen] < len(rest)
    _cut(ids[:, start:], length, ended)
    return rows, length, ended


def with_last(
    ids: NDArray[np.int32], start: int, rows: NDArray[np.int64], length: NDArray[np.int64], tokens: NDArray[np.int64]
) -> NDArray[np.int32]:
    """With the token that was written last behind each row, or the filler of one that had ended."""
    last, known, inside = ids[:, -1].astype(np.int64), rows >= 0, ids.shape[1] - start
    over = known & (length < inside) & (length > 0)
    going = known & ~over
    if over.any():
        filler = int(np.bincount(last[over]).argmax())
        bare = np.array([_last_but(row[start:], filler) for row in ids])
        ends = np.bincount(bare[over & (bare >= 0)], minlength=1)
        if ends.max() >= _SAME * over.sum():
            going &= bare != ends.argmax()
        last[known & ~going] = filler
    last[going] = tokens[rows[going], inside]
    return np.concatenate([ids, last[:, None].astype(np.int32)], axis=1)


def _cut(answers: NDArray[np.int32], length: NDArray[np.int64], ended: NDArray[np.bool_]) -> None:
    """What is sampled after the end may be the filler itself: answers end where others do, at the same token."""
    over = np.flatnonzero(ended & (length > 0))
    if len(over) < 4:
        return
    filler, filler_counts = np.unique(answers[over, length[over]], return_counts=True)
    bare = [_last_but(row[:stop], int(filler[0])) for row, stop in zip(answers[over], length[over], strict=True)]
    last, last_counts = np.unique([each for each in bare if each >= 0], return_counts=True)
    if max(last_counts, default=0) < _SAME * len(over) or max(filler_counts) < len(over):
        return
    end, fill = last[last_counts.argmax()], filler[0]
    for row in np.flatnonzero(length > 0):
        for place in np.flatnonzero(answers[row] == end):
            if (answers[row, place + 1 :] == fill).all():
                length[row], ended[row] = place + 1, place + 1 < answers.shape[1]
                break


def _last_but(row: NDArray[np.int32], filler: int) -> int:
    """The last token that is not filler; -1 where there is none."""
    rest = row[row != filler]
    return int(rest[-1]) if len(rest) else -1


def _without(row: NDArray[np.int32], filler: int) -> int:
    """How many tokens there are up to the last that is not filler."""
    places = np.flatnonzero(row != filler)
    return int(places[-1]) + 1 if len(places) else 0
