import numpy as np

from rldebug.evidence.foreign.episodes import gathered, with_ends
from rldebug.evidence.foreign.known import Known
from rldebug.evidence.foreign.log import Column


def returns(*cells):
    return Known("episodic_return", Column.of((step, 0.0, value) for step, value in cells))


def test_lines_of_other_things_are_kept_as_they_are():
    lines = np.arange(100, 1500, 100)
    same = with_ends(lines, {"episode/return_mean": returns((150, 1.0), (1400, 2.0))})
    assert same.tolist() == lines.tolist()
    one_more = with_ends(lines, {"episode/return_mean": returns((150, 1.0), (1450, 2.0))})
    assert one_more.tolist() == [*lines.tolist(), 1450]


def test_few_lines_get_others_between_them():
    lines = with_ends(np.array([50]), {"episode/return_mean": returns(*((10 * i, 1.0) for i in range(1, 11)))})
    assert len(lines) >= 10
    assert lines[-1] == 100
    assert with_ends(np.array([50]), {}).tolist() == [50]


def test_lengths_are_not_counted_twice():
    found = gathered(
        "episode/length_mean", np.array([10, 20]), returns((1, 5.0), (2, 7.0), (20, 1.0), (20, float("nan")))
    )
    assert found[0] == {
        "episode/length_mean": 6.0,
        "episode/length_std": 1.0,
        "episode/length_min": 5.0,
        "episode/length_max": 7.0,
    }
    assert found[1]["episode/length_max"] == 1.0
