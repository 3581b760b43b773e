from tests.programs.written import found

CODE = "ADV375"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "statistics", "critic")
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")


def test_quiet_where_whole_answers_are_normalised():
    assert not found(CODE, kind="listed")
    assert not found(CODE, kind="dialogue")
