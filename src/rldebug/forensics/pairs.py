"""Pairs: terms whose two sides have N rows each, and that were taken over all N × N pairs of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rldebug.evidence.script import Audit, Event, Script


def paired(script: Script, kind: str, one: str, other: str) -> tuple[list[tuple[Audit, Event]], int]:
    """Terms of that kind that run over all pairs, and how many could be judged."""
    found, judged = [], 0
    for audit, term in script.terms(kind):
        shapes = term.get("shapes") or {}
        if one not in shapes or other not in shapes:
            continue
        judged += 1
        if over_pairs(shapes[one], shapes[other], int(term["rows"])):
            found.append((audit, term))
    return found, judged


def over_pairs(one: Sequence[int], other: Sequence[int], rows: int) -> bool:
    """(N, 1) with (N,): as many rows on either side, and N times as many in the loss.

    A row against a column, (1, N) with (N, 1), is written on purpose; so are the pairs of quantiles, with three axes.
    """
    count = math.prod(one)
    if count >= 8 and rows == count * count and len(one) <= 2 and list(other) == [count, count] and max(one) == count:
        return True  # the other side was spread out before: rewards (N,) plus values (N, 1)
    if len(one) == 3 and one[2] == 1 and one[0] <= 4 and one[1] >= 8 and list(other) == [one[1]]:
        return rows == count * one[1]  # (critics, N, 1) with (N,)
    if sorted((len(one), len(other))) != [1, 2]:
        return False
    # A batch of a single row has one pair, and two rows may be an axis of something else.
    return count > 2 and count == math.prod(other) and rows == count * count
