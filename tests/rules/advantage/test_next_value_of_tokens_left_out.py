from tests.programs.written import found

CODE = "ADV380"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "forgotten", "critic")
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")
    assert not found(CODE, kind="stepwise")
    assert not found(CODE, kind="dialogue")
