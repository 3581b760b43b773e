from tests.programs.written import found

CODE = "ADV371"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "first", "groups")
    assert finding.component == "advantage"
    assert finding.seen


def test_fires_on_a_part_of_the_mean():
    (finding,) = found(CODE, "part", "listed")
    assert "a part only" in finding.message


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="listed")
    assert not found(CODE)
    assert not found(CODE, kind="critic")
