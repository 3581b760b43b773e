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


def test_only_a_note_when_each_has_a_head_of_its_own_on_it():
    modules = {"trunk": {"trainable": 100, "owners": {"a": 100, "b": 100}}}
    steps = {f"step/norm@{name}": [1.0] * 9 for name in ("a", "b")}
    for heads, severity in (({"a": 10, "b": 30}, "note"), ({"a": 0, "b": 30}, "warning")):
        told = audit(modules=modules, twice=["trunk.0.weight"], twice_owners=["a", "b"], alone=heads)
        found = fires(ParameterInTwoOptimizers(), Run.from_series(steps, facts={"parameters": told}))
        assert found.severity == severity
