from tests.programs.policies import found

CODE = "ACT321"


def test_fires_where_the_likeliest_action_is_taken():
    (finding,) = found(CODE, "greedy")
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_actions_are_drawn():
    assert not found(CODE)
