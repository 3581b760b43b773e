import pytest

from rldebug.forensics.pairs import over_pairs


@pytest.mark.parametrize(
    ("one", "other", "rows", "paired"),
    [
        ((8, 1), (8,), 64, True),
        ((8,), (8, 1), 64, True),
        ((8,), (8,), 8, False),
        ((8, 1), (8,), 8, False),  # squeezed before the difference
        ((8, 1), (1, 8), 64, False),  # on purpose
        ((1, 8, 1), (1, 1, 8), 64, False),  # quantiles of one row
        ((6, 4), (6, 1), 24, False),  # a weight per sequence
        ((2, 1), (2,), 4, False),  # too few to tell
    ],
)
def test_pairs_are_told_from_rows(one, other, rows, paired):
    assert over_pairs(one, other, rows) is paired
