"""A script made by hand in which losses are over pictures; says what reached the first layer."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Event, Script
from tests.programs.made import call, nodes, script


def pictures(
    brightest: float, darkest: float = 0.0, *, shape: tuple[int, ...] = (32, 2, 8, 8), shares: float | None = None
) -> Script:
    """`shares`: observations are numbers from 0 to this, not bytes."""
    obs = np.random.default_rng(0).integers(0, 256, (32, 2, 8, 8)).astype(np.float64)
    detail = {"kind": "regression", "reached": ["net"], "first_input_shape": list(shape), "line": ["train.py", 3]}
    given = {"first_input": np.array([darkest, brightest, 0.1, 0.1])}
    events = [
        call(0, np.arange(32), obs, grad=True),
        *(Event(each, "term", 0, 0, detail, given) for each in range(1, 7)),
    ]
    told = {"wide": True, "mean": [0.0, 231.0, 16.0], "count": 100}
    if shares is not None:
        told |= {"low": [0.0, shares, 0.1], "high": [0.0, shares, 0.1], "mean": [0.0, shares, 0.1]}
    dtype = "uint8" if shares is None else "float32"
    return script([(nodes(obs), events)], [{"dtype": dtype, "obs": told}])
