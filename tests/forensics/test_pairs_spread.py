import pytest

from rldebug.forensics.pairs import over_pairs


@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [([32], [32, 32], 1024), ([32, 1], [32, 32], 1024), ([2, 32, 1], [32], 2048)],
)
def test_sides_that_were_spread_out_before(one, other, rows):
    assert over_pairs(one, other, rows)


@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [([4], [4, 4], 16), ([32, 32], [32, 32], 1024), ([32, 5, 1], [5], 800), ([2, 32], [32], 64)],
)
def test_tables_and_critics_are_no_pairs(one, other, rows):
    assert not over_pairs(one, other, rows)
