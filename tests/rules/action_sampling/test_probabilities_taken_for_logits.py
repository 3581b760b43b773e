from tests.programs.policies import found

CODE = "ACT322"


def test_fires_where_the_softmax_is_taken_twice():
    (finding,) = found(CODE, "softmax twice")
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_logits_are_logits():
    assert not found(CODE)
