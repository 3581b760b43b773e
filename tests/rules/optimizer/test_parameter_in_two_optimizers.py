from rldebug.evidence.run import Run
from rldebug.rules.optimizer.parameter_in_two_optimizers import ParameterInTwoOptimizers
from tests.judge import fires, quiet
from tests.rules.detailed import audit

TWICE = ["critic.0.weight", "critic.0.bias"]


def run(owners, steps, twice=TWICE):
    modules = audit()["modules"]
    modules["critic"] = {**modules["critic"], "owners": owners}
    facts = {"parameters": audit(modules=modules, twice=twice, twice_owners=sorted(owners))}
    return Run.from_series({f"step/norm@{name}": each for name, each in steps.items()}, facts=facts)


def test_fires_when_the_actors_optimizer_holds_the_whole_critic():
    found = fires(ParameterInTwoOptimizers(), run({"a": 100, "b": 100}, {"a": [1.0] * 9, "b": [1.0] * 9}))
    assert found.severity == "warning"
    assert "critic" in found.message


def test_only_a_note_when_it_is_a_shared_trunk():
    found = fires(ParameterInTwoOptimizers(), run({"a": 60, "b": 100}, {"a": [1.0] * 9, "b": [1.0] * 9}))
    assert found.severity == "note"


def test_only_a_note_when_the_two_take_turns():
    turns = {"a": [1.0, None] * 5, "b": [None, 1.0] * 5}
    assert fires(ParameterInTwoOptimizers(), run({"a": 100, "b": 100}, turns)).severity == "note"


def test_quiet_when_each_parameter_is_in_one_optimizer():
    quiet(ParameterInTwoOptimizers(), run({"a": 0, "b": 100}, {"a": [1.0] * 9, "b": [1.0] * 9}, twice=[]))
