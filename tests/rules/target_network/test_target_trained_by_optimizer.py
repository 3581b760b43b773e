import math

from rldebug.evidence.run import Run
from rldebug.rules.target_network.target_trained_by_optimizer import TargetTrainedByOptimizer
from tests.judge import fires, quiet


def run(owned, rows, trainable=100):
    module = {"numel": 100, "trainable": trainable, "owners": {"adam": owned}}
    table = {name: [grad, grad, 0.0, step, 1.0, 0.0, 1.0] for name, (grad, step) in rows.items()}
    return Run.from_series(
        {"grad/norm": [1.0]},
        facts={"parameters": {"modules": {"critic": module, "target": module}}},
        tables={"parameters": table},
    )


def test_fires_when_steps_change_the_target():
    finding = fires(TargetTrainedByOptimizer(), run(100, {"critic.w": (0.5, 0.1), "target.w": (0.4, 0.1)}))
    assert finding.severity == "error"
    assert "target.w" in finding.seen


def test_only_a_note_when_the_target_never_gets_a_gradient():
    assert fires(TargetTrainedByOptimizer(), run(100, {"target.w": (math.nan, 0.0)})).severity == "note"


def test_quiet_when_the_target_is_in_no_optimizer():
    quiet(TargetTrainedByOptimizer(), run(0, {"critic.w": (0.5, 0.1)}))


def test_quiet_when_the_target_is_frozen():
    quiet(TargetTrainedByOptimizer(), run(100, {"target.w": (math.nan, 0.0)}, trainable=0))


def test_quiet_when_what_is_owned_is_shared_with_the_online_network():
    quiet(TargetTrainedByOptimizer(), run(40, {"critic.encoder": (0.5, 0.1), "critic.head": (0.5, 0.1)}))
