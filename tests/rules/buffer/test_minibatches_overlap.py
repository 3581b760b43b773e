from __future__ import annotations

import pytest

from rldebug.rules.buffer.minibatches_overlap import MinibatchesOverlap
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_indices_drawn_with_replacement() -> None:
    assert found(MinibatchesOverlap(), seen(watched, "ppo", "replacement"))


@pytest.mark.parametrize("bug", ["", "one lane", "last step"])
def test_quiet_where_a_shuffle_is_cut_into_pieces(bug: str) -> None:
    assert not found(MinibatchesOverlap(), seen(watched, "ppo", bug))
