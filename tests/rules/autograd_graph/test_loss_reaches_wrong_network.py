from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.loss_reaches_wrong_network import LossReachesWrongNetwork
from tests.judge import fires, quiet
from tests.rules.detailed import audit, reach

POLICY_GRADIENT = {"logp_new": [64], "advantage": [64]}


def run(reached, shapes=(), shared=0):
    facts = [{"reach": reached, "parameters": audit(shared=shared), "shapes": dict(shapes)}] * 3
    return Run.from_series({"loss/policy": [0.1] * 3}, facts=facts)


def test_fires_when_the_value_loss_reaches_the_policy():
    finding = fires(LossReachesWrongNetwork(), run({"value": {"policy": reach(6), "critic": reach(6)}}))
    assert finding.message == "the value loss reaches the policy"


def test_fires_when_a_policy_gradient_loss_reaches_the_critic():
    finding = fires(
        LossReachesWrongNetwork(), run({"policy": {"policy": reach(6), "critic": reach(6)}}, POLICY_GRADIENT)
    )
    assert "advantage" in finding.help


def test_quiet_when_an_actor_loss_goes_through_the_critic():
    quiet(LossReachesWrongNetwork(), run({"policy": {"policy": reach(6), "critic": reach(6)}}, {"value": [64]}))


def test_quiet_when_the_networks_share_a_trunk():
    quiet(LossReachesWrongNetwork(), run({"value": {"policy": reach(6), "critic": reach(6)}}, shared=4))


def test_quiet_when_the_critic_uses_the_encoder_of_the_policy():
    quiet(LossReachesWrongNetwork(), run({"value": {"policy": reach(4), "critic": reach(2, 2)}}))


def test_quiet_when_each_loss_reaches_its_own():
    reached = {"value": {"policy": reach(0), "critic": reach(6)}, "policy": {"policy": reach(6), "critic": reach(0)}}
    quiet(LossReachesWrongNetwork(), run(reached, POLICY_GRADIENT))
