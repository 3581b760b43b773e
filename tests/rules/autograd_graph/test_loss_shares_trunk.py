from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.loss_shares_trunk import LossSharesTrunk
from tests.judge import fires, quiet
from tests.rules.detailed import audit, reach


def run(reached, shared):
    return Run.from_series({"loss/policy": [0.1]}, facts={"reach": reached, "parameters": audit(shared=shared)})


def test_fires_when_one_network_has_two_heads():
    reached = {"policy": {"policy": reach(7, 9)}, "value": {"policy": reach(6, 9)}}
    finding = fires(LossSharesTrunk(), run(reached, 9))
    assert finding.severity == "note"
    assert "reach 4 of the 9" in finding.seen


def test_fires_when_two_networks_share_an_encoder():
    reached = {"policy": {"policy": reach(6, 6)}, "value": {"policy": reach(4, 6)}}
    assert "reach 4 of the 6" in fires(LossSharesTrunk(), run(reached, 4)).seen


def test_quiet_when_the_networks_have_nothing_in_common():
    quiet(LossSharesTrunk(), run({"policy": {"policy": reach(6)}, "value": {"policy": reach(0)}}, 0))


def test_quiet_when_the_value_loss_is_cut_off_from_the_trunk():
    quiet(LossSharesTrunk(), run({"policy": {"policy": reach(7, 9)}, "value": {"policy": reach(2, 9)}}, 9))
