from tests.programs.ranks import child, found

CODE = "MPR350"


def test_fires_where_the_weights_differ():
    (finding,) = found(CODE, child(0), child(1, norm=5.1))
    assert finding.component == "multiprocess"


def test_quiet_where_they_agree_or_where_each_trains_by_itself():
    assert not found(CODE, child(0), child(1))
    assert not found(CODE, child(0, world=None), child(1, norm=5.1, world=None))
