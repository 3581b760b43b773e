import pytest

from tests.programs.ranks import child, found, sampled

CODE = "MPR352"
MEAN = [("policy", "mean", -1.0), ("regression", "mean", 0.5)]


def both(factor, terms=MEAN, world=2, wrapped=False, **more):
    return [
        child(rank, sampled=sampled(rank, factor, **more), terms=terms, world=world, wrapped=wrapped) for rank in (0, 1)
    ]


@pytest.mark.parametrize("clipped", [False, True])
def test_fires_where_the_sum_is_stepped_with(clipped):
    (finding,) = found(CODE, *both(2.0, clipped=clipped))
    assert finding.component == "multiprocess"
    assert finding.severity == "error"
    assert "2 times the mean" in finding.seen


def test_quiet_where_the_mean_is():
    assert not found(CODE, *both(1.0))
    assert not found(CODE, *both(1.0, clipped=True))
    assert not found(CODE, *both(0.37))  # scaled by something else


def test_quiet_where_the_loss_was_divided_before():
    assert not found(CODE, *both(2.0, terms=[("policy", "mean", -0.5), ("regression", "mean", 0.25)]))
    assert not found(CODE, *both(2.0, terms=[("policy", "sum", -1.0)]))
    assert not found(CODE, *both(2.0, terms=[]))


def test_quiet_where_a_rank_is_missing_or_torch_has_averaged():
    assert not found(CODE, *both(2.0, world=3))
    assert not found(CODE, *both(2.0, wrapped=True))
