from tests.programs.written import found

CODE = "POL384"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "prompt", "groups")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")


def test_fires_where_what_the_model_was_told_between_two_turns_is_learned():
    assert found(CODE, "told", "dialogue")


def test_quiet_where_two_turns_are_learned():
    assert not found(CODE, kind="dialogue")
