from tests.programs.ranks import child, found, sampled

CODE = "MPR353"


def both(factor, wrapped, **more):
    return [child(rank, sampled=sampled(rank, factor, **more), wrapped=wrapped) for rank in (0, 1)]


def test_fires_where_a_reduction_by_hand_follows_that_of_torch():
    (finding,) = found(CODE, *both(2.0, wrapped=True))
    assert "all_reduce" in finding.help


def test_fires_where_the_mean_is_divided_again():
    for wrapped in (True, False):
        (finding,) = found(CODE, *both(0.5, wrapped=wrapped, clipped=True))
        assert "division" in finding.help


def test_quiet_where_it_is_the_mean():
    assert not found(CODE, *both(1.0, wrapped=True))
    assert not found(CODE, *both(1.0, wrapped=False))


def test_quiet_where_it_is_a_sum_or_an_average_over_passes():
    assert not found(CODE, *both(2.0, wrapped=False))  # the other rule
    assert not found(CODE, *both(0.5, wrapped=True, passes=2))
