from tests.programs.written import found

CODE = "EVA356"


def test_fires_where_the_training_env_is_played_in_between():
    (finding,) = found(CODE, "shared", "played")
    assert finding.component == "evaluation"
    assert finding.seen


def test_quiet_where_the_evaluation_has_its_own():
    assert not found(CODE, kind="played")
