from rldebug.evidence.run import Run
from rldebug.rules.optimizer.parameter_in_no_optimizer import ParameterInNoOptimizer
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import audit, reach

NAMES = ["critic.0.weight", "critic.0.bias"]


def run(fingerprints=(3.0,) * 6, unowned=True, reached=None, moves=1.0, every=16):
    facts = []
    for each in fingerprints:
        modules = audit()["modules"]
        if unowned:
            modules["critic"] = {
                **modules["critic"],
                "unowned": NAMES,
                "unowned_numel": 100,
                "unowned_fingerprint": each,
                "owners": {"optimizer": 0},
            }
        recorded = {"parameters": audit(modules=modules)}
        facts.append(recorded if reached is None else {**recorded, "reach": {"value": {"critic": reached}}})
    return Run.from_series({"step/norm": [moves] * len(facts)}, facts=facts, every=every)


def test_fires_when_a_loss_reaches_what_no_optimizer_holds():
    finding = fires(ParameterInNoOptimizer(), run(reached=reach(2, 2)))
    assert finding.severity == "error"
    assert finding.where.tensor == "critic.0.weight"


def test_a_warning_when_it_is_not_known_what_the_losses_reach():
    assert fires(ParameterInNoOptimizer(), run()).severity == "warning"


def test_quiet_when_somebody_else_trains_them():
    quiet(ParameterInNoOptimizer(), run(fingerprints=(3.0, 3.0, 3.0, 3.1, 3.2, 3.3), reached=reach(2, 2)))


def test_quiet_when_no_loss_reaches_them():
    missed = {"reached": 0, "of": 2, "missing": NAMES}
    quiet(ParameterInNoOptimizer(), run(reached=missed))


def test_quiet_when_nothing_moves_at_all():
    quiet(ParameterInNoOptimizer(), run(reached=reach(2, 2), moves=0.0))


def test_quiet_when_every_parameter_has_its_optimizer():
    quiet(ParameterInNoOptimizer(), run(unowned=False))


def test_declines_after_a_few_updates():
    not_enough(ParameterInNoOptimizer(), run(every=1))
    not_enough(ParameterInNoOptimizer(), run(fingerprints=(3.0,) * 3))
