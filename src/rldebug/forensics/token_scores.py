"""Whether sequences get the same scores in the loss as when they were written, with the same weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Script
from rldebug.forensics.tokens import Pass, rounds


@dataclass(frozen=True, eq=False)
class Again:
    judged: int  # written tokens
    differing: int
    worst: Pass | None
    dropout: bool  # the network leaves out units at random, in this pass or when it wrote


def scored_again(script: Script, apart: float) -> Again:
    judged = differing = 0
    worst: Pass | None = None
    for each in (one for found in rounds(script) for one in found.passes if one.at_once):
        again = each.call.arrays.get("logp")
        if again is None or each.writing.module != each.call["module"]:
            continue
        for row in (each.rows >= 0).nonzero()[0]:
            for step in range(int(each.length[row])):
                said = each.writing.scores[step] if step < len(each.writing.scores) else None
                source = int(each.rows[row])
                if said is None or source >= len(said):
                    continue
                token = int(each.ids[row, each.start + step])
                x = said[source].astype(np.float64)
                if not np.isfinite(x).all():
                    continue
                before = x[token] - x.max() - np.log(np.exp(x - x.max()).sum())
                judged += 1
                if abs(before - float(again[row, each.start + step - 1])) > apart:
                    differing += 1
                    worst = worst or each
    return Again(judged, differing, worst, worst is not None and _drops(script, worst))


def _drops(script: Script, each: Pass) -> bool:
    layers = script.modules.get(str(each.call["module"]), {}).get("layers", {})
    return bool(each.call["training"]) and any("Dropout" in name for name in layers)
