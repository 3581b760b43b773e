from tests.programs.policies import found

CODE = "ACT325"


def test_fires_where_the_bounds_are_a_million_apart():
    (finding,) = found(CODE, "tiny range", numbers=True)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_bounds_fit():
    assert not found(CODE, numbers=True)
