"""Whether the time can be told from what is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.programs.made import nodes

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.clocks import time_is_seen

STEPS = 400
LONG = 20


def made(*, clock: bool, resets: bool) -> Script:
    """Episodes one after the other, of an environment with a reset of its own, or one that resets within step()."""
    at = np.arange(STEPS)
    noise = np.random.default_rng(0).normal(size=(STEPS, 2))
    seen = np.column_stack([noise, at % LONG / LONG]) if clock else noise
    of = nodes(seen)
    if resets:  # the last of an episode is what the end looks like
        of = replace(of, terminated=at % LONG == LONG - 2, first=at % LONG == 0)
    else:
        ended = at % LONG == LONG - 1
        of = replace(of, terminated=ended, nxt=np.where(ended, -1, of.nxt))
    return Script([Audit(0, 0, 0, 0, of, ())])


@pytest.mark.parametrize("resets", [False, True])
def test_an_element_that_counts_the_steps(resets: bool) -> None:
    assert time_is_seen(made(clock=True, resets=resets), 0)
    assert not time_is_seen(made(clock=False, resets=resets), 0)
