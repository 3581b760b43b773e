from tests.programs.ranks import child, found

CODE = "SEE355"


def test_fires_where_both_see_the_same():
    (finding,) = found(CODE, child(0), child(1))
    assert finding.component == "seeding"


def test_quiet_where_each_sees_its_own():
    assert not found(CODE, child(0), child(1, seen=0.05))
