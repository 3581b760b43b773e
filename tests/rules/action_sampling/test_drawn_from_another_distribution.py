from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT323"


def test_fires_where_the_noise_is_wider_than_the_loss_knows():
    (finding,) = findings(lambda: ppo("wide noise", numbers=True), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_noise_is_that_of_the_policy():
    assert not found(CODE, numbers=True)


def test_quiet_where_choices_are_drawn_from_the_policy():
    assert not found(CODE)


def test_fires_where_all_numbers_lie_above_their_mean():
    (finding,) = findings(lambda: ppo("one side", numbers=True), CODE, overhead_budget=1.0)
    assert "one side" in finding.seen
