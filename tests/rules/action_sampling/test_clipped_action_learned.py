from tests.programs.policies import found

CODE = "ACT320"


def test_fires_where_the_clipped_action_is_stored():
    (finding,) = found(CODE, "clipped stored", numbers=True)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_raw_action_is_stored():
    assert not found(CODE, numbers=True)
