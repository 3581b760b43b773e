"""That the algorithms learn: the cases of `bench/learning.py`, five seeds each, without the peers."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def load():
    spec = importlib.util.spec_from_file_location("learning", BENCH / "learning.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["learning"] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    return module


learning = load()


@pytest.mark.slow
@pytest.mark.parametrize("case", learning.CASES, ids=lambda case: case.key)
def test_it_learns(case, tmp_path):
    if case.needs is not None and importlib.util.find_spec(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed: pip install -e '.[bench]'")
    results = learning.run([case], seeds=5, jobs=1, peers=False, file=tmp_path / "results.json", tick=print)
    scores = learning.scores(results, case, "rldebug", 5)
    assert len(scores) == 5, results
    assert learning.iqm(scores) >= case.bar, scores


def test_the_interquartile_mean():
    import numpy as np

    assert learning.iqm(np.array([0.0, 10.0, 11.0, 12.0, 1000.0])) == 11.0
    low, high = learning.interval(np.array([10.0, 10.0, 10.0, 10.0, 10.0]))
    assert low == high == 10.0


def test_a_missed_bar_and_a_better_peer_are_said():
    case = learning.Case("ppo", "X-v0", 1000, bar=50)
    results = {f"ppo X-v0 rldebug {seed}": {"returns": [10.0 + seed]} for seed in range(5)}
    results |= {f"ppo X-v0 peer {seed}": {"returns": [90.0 + seed]} for seed in range(5)}
    text, wrong = learning.table(results, [case], 5)
    assert "12.0" in text
    assert "92.0" in text
    assert [each.split(": ")[1][:10] for each in wrong] == ["12.0, belo", "12.0, belo"]
    good = {key: {"returns": [100.0 + int(key[-1])]} for key in results}
    assert learning.table(good, [case], 5)[1] == []
