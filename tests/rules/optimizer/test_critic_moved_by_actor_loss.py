"""A critic stepped on the gradient of the actor."""

from rldebug.rules.optimizer.critic_moved_by_actor_loss import CriticMovedByActorLoss
from tests.programs import learning
from tests.watched import findings

rule = CriticMovedByActorLoss()


def test_fires_on_an_actors_optimizer_that_holds_the_critic() -> None:
    (found,) = findings(lambda: learning.actor_critic("holds critic"), rule.code)
    assert "critic" in found.message


def test_quiet_on_the_actors_loss_may_lead_through_the_critic() -> None:
    _, script = learning.seen("actor_critic")
    assert not list(rule.check(script))
