from tests.programs.policies import found

CODE = "ACT331"


def test_fires_where_the_mask_of_the_loss_is_that_of_another_row():
    (finding,) = found(CODE, "masked by another row")
    assert finding.component == "action-sampling"


def test_quiet_where_the_mask_is_that_of_the_choice():
    assert not found(CODE, "masked")


def test_quiet_where_nothing_is_masked():
    assert not found(CODE)
