from rldebug.finding import Finding
from rldebug.rules.value_loss.value_of_next_action_learned import ValueOfNextActionLearned
from tests.programs.value_learners import categorical, categorised, learned
from tests.watched import watched


def found(fault: str) -> list[Finding]:
    return list(ValueOfNextActionLearned(rows=64).check(categorised(fault)))


def test_fires_where_the_loss_is_taken_at_the_next_action() -> None:
    script = watched(lambda: categorical("next action"), overhead_budget=10.0)[1]
    (finding,) = ValueOfNextActionLearned(rows=64).check(script)
    assert "thought best" in finding.seen


def test_quiet_where_it_is_taken_at_the_action_of_the_batch() -> None:
    assert not found("")


def test_quiet_on_an_ordinary_q_regression() -> None:
    assert not list(ValueOfNextActionLearned(rows=64).check(learned()))
