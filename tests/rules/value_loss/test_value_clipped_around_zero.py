from tests.programs.policies import found

CODE = "VAL331"


def test_fires_where_the_value_itself_is_clamped():
    (finding,) = found(CODE, "value around 0")
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_its_step_is_clamped():
    assert not found(CODE, "value clipped")


def test_quiet_where_nothing_is_clamped():
    assert not found(CODE)
