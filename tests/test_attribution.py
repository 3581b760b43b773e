"""`rldebug profile` beside programs that know where their time went. The whole of it is in bench/attribution.py."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


def _bench() -> Any:
    path = Path(__file__).parent.parent / "bench" / "attribution.py"
    spec = importlib.util.spec_from_file_location("bench_attribution", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


bench = _bench()
BY_NAME = {each.name: each for each in bench.ALL}
MAY_BE_OFF = 0.10  # of the wall clock; the bar of the benchmark is half of that


@pytest.mark.parametrize(
    ("name", "size", "costs"),
    [
        ("twin_critics", "160", {"target networks": 6.0, "simulator": 2.0}),
        ("deque_dqn", "400", {"buffer sample": 1.2, "wrappers": 0.8}),
    ],
)
def test_time_asleep_is_that_of_the_part_which_sleeps(name: str, size: str, costs: dict[str, float]) -> None:
    outcome = bench.profile(BY_NAME[name], costs, "sleep", size)
    assert set(outcome.costs) == set(costs)
    off = {part: told - truth for part, (truth, told) in outcome.shares().items()}
    assert max(map(abs, off.values())) < MAY_BE_OFF, off
    for part in costs:
        assert outcome.truth[part] > 0.03 * outcome.seconds  # or there was nothing to be found, on a slow machine too


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part", "kind"), [each for each in bench.QUICK if each[2] == "sleep"])
def test_costs_of_every_style_are_found(name: str, part: str, kind: str) -> None:
    plain = bench.profile(BY_NAME[name])
    outcome = bench.profile(BY_NAME[name], bench.prices(plain, part), kind)
    off = {each: told - truth for each, (truth, told) in outcome.shares(plain).items()}
    assert max(map(abs, off.values())) < MAY_BE_OFF, off
