from tests.programs.written import found

CODE = "POL451"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "repelled", "groups")
    assert finding.component == "policy-loss"
    assert "in 100% of" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, "plain", "groups")
    assert not found(CODE, kind="critic")
