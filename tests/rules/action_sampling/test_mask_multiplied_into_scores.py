from tests.programs.policies import found

CODE = "ACT328"


def test_fires_where_the_mask_is_multiplied_into_the_logits():
    (finding,) = found(CODE, "masked by product")
    assert finding.component == "action-sampling"
    assert "zeros and ones" in finding.seen


def test_quiet_where_forbidden_logits_are_filled():
    assert not found(CODE, "masked")


def test_quiet_where_nothing_is_masked():
    assert not found(CODE)
