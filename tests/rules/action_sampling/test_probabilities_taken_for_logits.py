from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT322"


def test_fires_where_the_softmax_is_taken_twice():
    (finding,) = findings(lambda: ppo("softmax twice"), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_fires_where_it_is_drawn_from_the_softmax_of_probabilities():
    (finding,) = found(CODE, "softmax of probabilities drawn")
    assert "twice" in finding.message


def test_quiet_where_logits_are_logits():
    assert not found(CODE)
