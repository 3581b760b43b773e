from rldebug.evidence.run import Run
from rldebug.rules.optimizer.optimizer_never_steps import OptimizerNeverSteps
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import audit

ONE = {"optimizers": {"optimizer": "Adam"}}
TWO = {"optimizers": {"actor": "Adam", "alpha": "Adam"}}


def test_fires_when_updates_go_by_without_a_step():
    run = Run.from_series({"loss/policy": [0.1] * 40}, meta={**ONE, "steps": {"optimizer": 0}})
    assert fires(OptimizerNeverSteps(), run).severity == "error"


def test_fires_while_the_run_goes_on_once_many_updates_were_recorded():
    assert fires(OptimizerNeverSteps(), Run.from_series({"batch/rows": [64.0] * 80}, meta=ONE)).confidence < 0.9


def test_names_the_one_of_several_that_holds_a_network():
    modules = audit()["modules"]
    modules["policy"] = {**modules["policy"], "owners": {"actor": 100, "alpha": 0}}
    meta = {**TWO, "steps": {"actor": 0, "alpha": 40}}
    run = Run.from_series(
        {"loss/policy": [0.1] * 40, "step/norm@alpha": [0.1] * 40},
        meta=meta,
        facts={"parameters": audit(modules=modules)},
    )
    found = fires(OptimizerNeverSteps(), run)
    assert "actor" in found.message
    assert found.severity == "error"


def test_only_a_note_when_the_idle_one_holds_no_network():
    meta = {**TWO, "steps": {"actor": 40, "alpha": 0}}
    run = Run.from_series({"loss/policy": [0.1] * 40, "step/norm@actor": [0.1] * 40}, meta=meta)
    assert fires(OptimizerNeverSteps(), run).severity == "note"


def test_quiet_when_it_steps_only_at_updates_that_are_not_recorded():
    quiet(OptimizerNeverSteps(), Run.from_series({"loss/policy": [0.1] * 40}, meta={**ONE, "steps": {"optimizer": 2}}))


def test_quiet_when_its_hook_broke():
    meta = {**ONE, "steps": {"optimizer": 0}, "broken": {"optimizer hook optimizer": "…"}}
    quiet(OptimizerNeverSteps(), Run.from_series({"loss/policy": [0.1] * 40}, meta=meta))


def test_declines_without_optimizers_or_after_a_few_updates():
    not_enough(OptimizerNeverSteps(), Run.from_series({"loss/policy": [0.1] * 40}))
    not_enough(OptimizerNeverSteps(), Run.from_series({"loss/policy": [0.1] * 10}, meta={**ONE, "steps": {}}))
    not_enough(OptimizerNeverSteps(), Run.from_series({"loss/policy": [0.1] * 40}, meta=ONE))
