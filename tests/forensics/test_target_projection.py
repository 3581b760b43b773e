"""How far a distribution was moved before it was put back on its atoms, and how much narrowed."""

import numpy as np

from rldebug.forensics.target_projection import moved

ATOMS = 21


def projected(chance, shift, scale):
    """The projection as the paper has it, atom by atom."""
    out = np.zeros_like(chance)
    for row in range(len(chance)):
        for atom in range(ATOMS):
            place = min(max(shift[row] + scale[row] * atom, 0.0), ATOMS - 1)
            low = int(np.floor(place))
            high = min(low + 1, ATOMS - 1)
            out[row, low] += chance[row, atom] * (1.0 - (place - low))
            out[row, high] += chance[row, atom] * (place - low)
    return out


def case(scales, low=-3.0, high=6.0):
    rng = np.random.default_rng(0)
    chance = rng.dirichlet(np.full(ATOMS, 0.5), size=len(scales))
    shift = rng.uniform(low, high, len(scales))
    return chance, shift, projected(chance, shift, np.asarray(scales))


def test_shift_and_scale_are_read_off_although_the_support_cuts_targets_off():
    scales = np.full(60, 0.9)
    chance, shift, target = case(scales)
    found = moved(chance, target)
    assert found.exact.mean() > 0.95
    assert np.abs(found.scale - scales)[found.exact].max() < 1e-3
    assert np.abs(found.mean - (shift + scales * (chance @ np.arange(ATOMS))))[found.exact].max() < 1e-2
    bounded = target @ np.arange(ATOMS)
    assert np.abs(bounded - found.mean)[found.exact].max() > 0.1  # the plain mean is another


def test_rows_of_an_end_have_no_scale_and_rows_near_one_have_another():
    scales = np.array([0.9] * 40 + [0.81] * 10 + [0.0] * 10)
    chance, _, target = case(scales, low=0.5, high=3.0)
    found = moved(chance, target)
    assert np.abs(found.scale - scales)[found.exact].max() < 1e-3
    assert found.exact.mean() > 0.95


def test_a_target_of_another_distribution_is_not_explained():
    chance, _, target = case(np.full(60, 0.9))
    assert not moved(chance[::-1], target).exact.any()


def test_a_target_that_lies_beyond_the_support_is_not_read():
    chance, _, target = case(np.full(20, 0.9), low=ATOMS, high=ATOMS + 5.0)
    assert not moved(chance, target).exact.any()
