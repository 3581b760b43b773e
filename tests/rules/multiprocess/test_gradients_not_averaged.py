from tests.programs.ranks import child, found

CODE = "MPR351"


def test_fires_where_the_gradients_differ():
    (finding,) = found(CODE, child(0), child(1, gradient=1.2))
    assert finding.component == "multiprocess"


def test_quiet_where_they_agree_or_where_each_trains_by_itself():
    assert not found(CODE, child(0), child(1))
    assert not found(CODE, child(0, world=None), child(1, gradient=1.2, world=None))
