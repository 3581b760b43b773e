from tests.programs.written import found

CODE = "NET397"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "dropout")
    assert finding.component == "network"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, "unlike")
