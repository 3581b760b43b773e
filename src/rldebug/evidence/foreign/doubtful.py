"""Numbers in a log that are not finite and mean nothing: a mean over no episodes, a loss that was not computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.foreign.known import Known
from rldebug.evidence.foreign.log import Column


def without_gaps(known: dict[str, Known]) -> tuple[dict[str, Known], list[str]]:
    """Weights that are NaN stay so: what is finite again later is a gap, and so is a last stretch no longer than those
    before it. A loss that was never finite beside others that are is one that nobody computes. Gaps are left out, and
    named."""
    alive = any(name.startswith("loss/") and np.isfinite(each.column.value[-1]) for name, each in known.items())
    kept, told = {}, []
    for name, each in known.items():
        finite = np.isfinite(each.column.value)
        ends = _end(finite) if finite.any() or not alive else len(finite)
        keep = finite | (np.arange(len(finite)) >= ends)
        if not keep.all():
            told.append(
                f"{each.tag} is not finite on {np.sum(~keep)} of {len(keep)} lines, which were left out as gaps"
            )
        if keep.any():
            column = each.column
            kept[name] = Known(each.tag, Column(column.step[keep], column.seconds[keep], column.value[keep]))
    return kept, told


def _end(finite: NDArray[np.bool_]) -> int:
    """Where the last stretch of numbers that are not finite begins, if it is longer than every one before."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], finite, [True]]).astype(np.int8)))
    starts, lengths = edges[::2], np.diff(edges)[::2]
    if not len(starts) or finite[-1] or (len(lengths) > 1 and lengths[-1] <= lengths[:-1].max()):
        return len(finite)
    return int(starts[-1])
