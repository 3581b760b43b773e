"""Where episodes begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.programs.made import nodes

from rldebug.forensics.node_places import begins

STEPS = 12


def ended_at(place: int, **more: np.ndarray) -> list[int]:
    """Places at which an episode begins, of steps one after the other of which one ends an episode."""
    made = nodes(np.random.default_rng(0).normal(size=(STEPS, 2)))
    at = np.arange(STEPS)
    made = replace(made, terminated=at == place, acted=at < STEPS - 1, first=at == 0, **more)
    return np.flatnonzero(begins(made)).tolist()


def test_what_is_acted_on_after_an_end_is_where_the_next_episode_begins() -> None:
    assert ended_at(5) == [0, 6]


def test_what_the_end_looks_like_is_not_although_a_step_from_it_resets() -> None:
    """An environment that resets itself with the next step."""
    assert ended_at(5, phantom=np.arange(STEPS) == 6) == [0]
