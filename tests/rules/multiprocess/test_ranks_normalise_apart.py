import math

from tests.programs.ranks import child, found

CODE = "MPR356"


def rank(number, slope, shift=0.0):
    lines = ([slope, 2.0, math.nan], [shift, 0.0, math.nan], [0.5, 0.5, 0.0])
    return child(number, inputs={f"actor@{phase}": lines for phase in (1, 2, 3)})


def test_fires_where_slopes_differ():
    (finding,) = found(CODE, rank(0, 4.0), rank(1, 5.0))
    assert finding.component == "multiprocess"
    assert "times 4 on rank 0 and times 5 on rank 1" in finding.seen


def test_fires_where_shifts_differ():
    assert found(CODE, rank(0, 4.0, shift=0.0), rank(1, 4.0, shift=1.0))


def test_quiet_where_they_agree():
    assert not found(CODE, rank(0, 4.0, 0.1), rank(1, 4.0, 0.1))
    assert not found(CODE, rank(0, 4.0, 0.1), rank(1, 4.02, 0.11))


def test_quiet_where_nothing_is_known_of_the_other():
    assert not found(CODE, rank(0, 4.0), child(1, inputs={}))
    assert not found(CODE, rank(0, 4.0), child(1, inputs={"critic@1": ([1.0], [0.0], [1.0])}))
