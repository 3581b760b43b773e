from tests.programs.policies import found

CODE = "ACT326"


def test_fires_where_the_mask_comes_after_the_softmax():
    (finding,) = found(CODE, "masked too late")
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_mask_comes_before():
    assert not found(CODE, "masked")
