from tests.programs.written import found

CODE = "ADV378"


def test_fires_on_a_slice_in_place_of_the_index():
    (finding,) = found(CODE, "index", "stepwise")
    assert finding.component == "advantage"
    assert "another answer" in finding.seen


def test_fires_on_rewards_in_another_order():
    (finding,) = found(CODE, "mixed", "listed")
    assert "reward" in finding.seen


def test_quiet_where_all_is_well():
    for kind in ("stepwise", "listed", "groups", "critic"):
        assert not found(CODE, kind=kind)


def test_quiet_where_all_are_in_the_wrong_order_alike():
    """Another rule's: what is held is wrong already, and is used as it is."""
    assert not found(CODE, "shuffled", "groups")
