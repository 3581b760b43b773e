from tests.programs.written import found

CODE = "ADV373"


def test_fires_where_weights_are_in_another_order():
    (finding,) = found(CODE, "shuffled")
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_they_are_in_the_order_of_the_answers():
    assert not found(CODE)
    assert not found(CODE, kind="critic")
