"""Inputs are set beside observations element by element, only where the elements stand in the same places."""

import numpy as np
import pytest

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.forensics.inputs import inputs_of


def seen(match: str) -> Script:
    count = 40
    draw = np.random.default_rng(0)
    obs = draw.normal(size=(count, 8)).astype(np.float32)
    zeros, no = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    nodes = Nodes(
        id=np.arange(count), stream=zeros, lane=zeros, call=np.arange(count), phase=zeros, update=zeros,
        reward=np.zeros(count), terminated=no, truncated=no, phantom=no, first=no, acted=~no,
        action=np.zeros((count, 1)), nxt=zeros - 1, succ=zeros - 1, alike=zeros, obs=obs,
        obs_stats=np.zeros((count, 4)),
    )  # fmt: skip
    given = obs.reshape(count, 2, 2, 2).transpose(0, 3, 1, 2).reshape(count, 8) if match == "channels-first" else obs
    detail = {"module": "net", "acting": True, "grad": False, "match": match}
    call = Event(0, "call", 0, 0, detail, {"rows": np.arange(count), "input": given})
    stream = {"index": 0, "steps": count, "shape": [2, 2, 2]}
    return Script(audits=(Audit(0, 0, 0, 0, nodes, (call,)),), things={"stream": {"0": stream}})


@pytest.mark.parametrize(("match", "maps"), [("raw", 1), ("channels-first", 0)])
def test_pictures_whose_axes_were_moved_are_left_out(match, maps):
    assert len(inputs_of(seen(match))) == maps
