from tests.programs.policies import found

CODE = "ENT300"


def test_fires_where_it_is_added():
    (finding,) = found(CODE, "entropy added")
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_it_is_subtracted():
    assert not found(CODE)
