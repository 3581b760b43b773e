from tests.programs.written import found

CODE = "POL383"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "filler", "groups")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_the_last_token_is_not_given():
    assert found(CODE, "filler", "stepwise")


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="stepwise")
    assert not found(CODE)
    assert not found(CODE, kind="critic")


def test_quiet_where_another_turn_follows():
    assert not found(CODE, kind="dialogue")
