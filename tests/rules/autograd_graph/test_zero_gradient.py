from rldebug.evidence.run import Run
from rldebug.rules.autograd_graph.zero_gradient import ZeroGradient
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import detailed, moving, row

POLICY = ("policy.0.weight", "policy.0.bias", "policy.2.weight")


def test_fires_when_all_gradients_of_an_optimizer_stay_zero():
    run = Run.from_series({"grad/zero_tensors@actor": [1.0] * 20, "grad/zero_tensors@critic": [0.0] * 20})
    finding = fires(ZeroGradient(), run)
    assert finding.severity == "error"
    assert "actor" in finding.message


def test_fires_when_gradients_vanish_half_way_and_do_not_come_back():
    run = Run.from_series({"grad/zero_tensors": [0.0] * 20 + [1.0] * 20, "loss/policy": [0.3] * 40})
    assert fires(ZeroGradient(), run).where.update == 20


def test_fires_when_one_network_gets_nothing_and_stands_still():
    tables = moving(("critic.0.weight", "critic.0.bias"))
    for i, each in enumerate(tables):
        still = {name: row(0.0, step=0.0) for name in POLICY}
        tables[i] = {"parameters": {**each["parameters"], **still}}
    run = detailed(tables, numbers={"grad/zero_tensors": [0.6] * len(tables)})
    finding = fires(ZeroGradient(), run)
    assert finding.where.tensor == "policy"


def test_fires_as_a_trap_on_a_single_reading():
    assert fires(ZeroGradient(), Run.from_series({"grad/zero_tensors": [1.0]})).severity == "error"


def test_only_a_note_while_no_reward_has_been_seen():
    run = Run.from_series({"grad/zero_tensors": [1.0] * 20, "reward/min": [0.0] * 20, "reward/max": [0.0] * 20})
    assert fires(ZeroGradient(), run).severity == "note"


def test_only_a_note_when_the_loss_has_come_down_to_nothing():
    run = Run.from_series({"grad/zero_tensors": [0.0] * 20 + [1.0] * 20, "loss/value": [0.3] * 20 + [0.0] * 20})
    assert fires(ZeroGradient(), run).severity == "note"


def test_quiet_when_a_zero_initialised_head_blocks_the_first_update_only():
    quiet(ZeroGradient(), Run.from_series({"grad/zero_tensors": [1.0, 0.0] + [0.0] * 20}))


def test_quiet_when_single_updates_are_clipped_away_whole():
    quiet(ZeroGradient(), Run.from_series({"grad/zero_tensors": [0.0, 0.0, 0.0, 1.0] * 10}))


def test_quiet_when_the_network_is_trained_in_another_step():
    tables = [
        {
            "parameters": {
                **each["parameters"],
                **{name: row(0.0, step=0.0, norm=8.0 + 0.01 * i) for name in POLICY},
            }
        }
        for i, each in enumerate(moving(("critic.0.weight",)))
    ]
    quiet(ZeroGradient(), detailed(tables, numbers={"grad/zero_tensors": [0.75] * len(tables)}))


def test_declines_on_a_handful_of_readings():
    not_enough(ZeroGradient(), Run.from_series({"grad/zero_tensors": [1.0] * 5}))
