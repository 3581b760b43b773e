from tests.programs.policies import found

CODE = "POL303"


def test_fires_where_the_larger_gain_is_taken():
    (finding,) = found(CODE, "larger")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_the_bound_holds_for_all_rows():
    assert found(CODE, "dual clip")


def test_fires_where_advantages_are_normalised_in_between():
    assert found(CODE, "two advantages")


def test_quiet_where_the_smaller_gain_is_taken():
    assert not found(CODE)
