from tests.programs.policies import found

CODE = "ACT323"


def test_fires_where_the_noise_is_wider_than_the_loss_knows():
    (finding,) = found(CODE, "wide noise", numbers=True)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_the_noise_is_that_of_the_policy():
    assert not found(CODE, numbers=True)


def test_quiet_where_choices_are_drawn_from_the_policy():
    assert not found(CODE)
