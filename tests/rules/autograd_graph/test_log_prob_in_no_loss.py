"""A policy loss without a graph."""

from rldebug.rules.autograd_graph.log_prob_in_no_loss import LogProbInNoLoss
from tests.programs import learning
from tests.watched import findings

rule = LogProbInNoLoss()


def test_fires_on_a_detached_log_prob() -> None:
    (found,) = findings(lambda: learning.policy_gradient("detached"), rule.code)
    assert "regression alone" in found.seen


def test_quiet_on_a_log_prob_in_the_loss() -> None:
    _, script = learning.seen("policy_gradient")
    assert not list(rule.check(script))


def test_quiet_on_a_critic_alone() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))
