import pytest

from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.data_carries_graph import DataCarriesGraph
from tests.judge import fires, quiet
from tests.rules.detailed import audit, reach


def run(graphs, numbers=None, **facts):
    calls = {"update": ["train.py", 88], "rollout": ["train.py", 40], "replay": ["train.py", 41]}
    return Run.from_series(numbers or {"loss/policy": [0.1]}, facts={"graphs": graphs, "calls": calls, **facts})


@pytest.mark.parametrize("name", ["target", "logp_old", "advantage"])
def test_fires_when_data_of_an_update_carries_a_graph(name):
    finding = fires(DataCarriesGraph(), run({"update": [name]}))
    assert (finding.severity, finding.where.file, finding.where.line) == ("error", "train.py", 88)
    assert name in finding.message


def test_fires_when_the_policy_loss_reaches_the_critic_through_the_advantage():
    found = fires(
        DataCarriesGraph(),
        run({"update": ["advantage"]}, parameters=audit(), reach={"policy": {"critic": reach(6)}}),
    )
    assert "6 of 6" in found.seen


def test_a_warning_when_stored_actions_carry_one_and_a_note_for_values_of_a_loop_that_acts_with_gradients():
    assert fires(DataCarriesGraph(), run({"rollout": ["action"]})).severity == "warning"
    assert fires(DataCarriesGraph(), run({"replay": ["action"]})).severity == "warning"
    assert fires(DataCarriesGraph(), run({"rollout": ["value", "logp"]})).severity == "note"


def test_quiet_when_the_policy_loss_does_not_reach_the_critic():
    quiet(
        DataCarriesGraph(),
        run({"update": ["advantage"]}, parameters=audit(), reach={"policy": {"critic": reach(0)}}),
    )


def test_quiet_when_the_policy_loss_misses_the_value_head_of_a_shared_network():
    quiet(
        DataCarriesGraph(),
        run({"update": ["advantage"]}, parameters=audit(shared=6), reach={"policy": {"critic": reach(4)}}),
    )


def test_quiet_when_the_value_loss_does_not_reach_the_target_network():
    quiet(DataCarriesGraph(), run({"update": ["target"]}, reach={"value": {"target": reach(0)}}))


def test_quiet_when_the_old_log_prob_is_the_new_one():
    quiet(DataCarriesGraph(), run({"update": ["logp_old"]}, {"policy/log_ratio_absmax": [0.0, 0.0]}))


def test_quiet_when_nothing_carries_a_graph():
    quiet(DataCarriesGraph(), run({"update": [], "rollout": [], "replay": []}))


def test_fires_when_the_loss_was_computed_through_the_target():
    found = fires(DataCarriesGraph(), run({"update": ["target"]}, carried={"value": ["target"]}))
    assert "flow into it" in found.seen


def test_quiet_when_the_target_is_detached_on_its_way_into_the_loss():
    quiet(DataCarriesGraph(), run({"update": ["target"]}, carried={"value": []}))
