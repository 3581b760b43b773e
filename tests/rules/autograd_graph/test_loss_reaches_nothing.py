from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.loss_reaches_nothing import LossReachesNothing
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import NAN, READINGS, audit, detailed, moving, reach, row


def still(readings=READINGS):
    return [{"parameters": {"critic.0.weight": row(NAN, step=0.0), "critic.0.bias": row(NAN, step=0.0)}}] * readings


def run(tables, reached, **audited):
    return detailed(tables, facts={"reach": {"value": {"critic": reached}}, "parameters": audit(**audited)})


def test_fires_when_the_loss_is_computed_with_another_network():
    finding = fires(LossReachesNothing(), run(still(), reach(0)))
    assert finding.severity == "error"
    assert "value" in finding.message


def test_quiet_when_the_loss_reaches_a_single_tensor():
    quiet(LossReachesNothing(), run(still(), reach(1)))


def test_quiet_when_the_network_is_trained_through_copies_of_its_parameters():
    quiet(LossReachesNothing(), run(moving(("critic.0.weight", "critic.0.bias")), reach(0)))


def test_quiet_when_no_watched_optimizer_owns_it():
    modules = audit()["modules"]
    modules["critic"] = {**modules["critic"], "owners": {"optimizer": 0}}
    quiet(LossReachesNothing(), run(still(), reach(0), modules=modules))


def test_declines_after_the_first_updates():
    not_enough(LossReachesNothing(), run(still(3), reach(0)))


def test_fires_when_a_loss_has_no_graph_beside_one_that_has():
    run = Run.from_series({}, facts=[{"reach": {}, "parameters": {"modules": {}}, "detached": ["policy"]}] * 4)
    assert "no graph" in fires(LossReachesNothing(), run).message


def test_quiet_when_all_losses_have_one():
    quiet(
        LossReachesNothing(),
        Run.from_series({}, facts=[{"reach": {}, "parameters": {"modules": {}}, "detached": []}] * 4),
    )
