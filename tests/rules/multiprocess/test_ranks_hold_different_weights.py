from tests.programs.ranks import child, found, sampled

CODE = "MPR350"


def test_fires_where_the_weights_differ():
    (finding,) = found(CODE, child(0), child(1, norm=5.1))
    assert finding.component == "multiprocess"


def test_quiet_where_they_agree_or_where_each_trains_by_itself():
    assert not found(CODE, child(0), child(1))
    assert not found(CODE, child(0, world=None), child(1, norm=5.1, world=None))


def test_fires_where_norms_agree_and_numbers_do_not():
    """Orthogonal weights have the same norm, whatever they are."""
    one, other = (child(rank, sampled=sampled(rank, 1.0, off=0.01 * rank)) for rank in (0, 1))
    (finding,) = found(CODE, one, other)
    assert "nobody sent them round" in finding.message
    (finding,) = found(CODE, {**one, "before_updates": {"broadcast": 4}}, other)
    assert finding.message == "the ranks hold different weights"


def test_quiet_where_numbers_agree():
    assert not found(CODE, *(child(rank, norm=5 + rank, sampled=sampled(rank, 1.0)) for rank in (0, 1)))
