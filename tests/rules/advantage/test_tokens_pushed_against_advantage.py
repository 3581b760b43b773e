from tests.programs.written import found

CODE = "ADV377"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "sign", "critic")
    assert finding.component == "advantage"
    assert finding.seen


def test_fires_on_rewards_to_come():
    (finding,) = found(CODE, "backwards", "stepwise")
    assert "from there on" in finding.seen


def test_fires_on_whole_answers():
    (finding,) = found(CODE, "up", "listed")
    assert "reward" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="stepwise")
    assert not found(CODE, kind="listed")
    assert not found(CODE)
    assert not found(CODE, kind="critic")
