from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.evaluation.constant_action_solves import ConstantActionSolves
from tests.judge import fires, not_enough, quiet


def played(mean, *, threshold=None, cheat=None):
    plays = [
        Play("random", "random", (1.0, 2.0) * 10, (50,) * 20, interval=(1.2, 1.8)),
        Play("always 1", "constant", (mean,) * 10, (50,) * 10, interval=(mean, mean)),
    ]
    if cheat is not None:
        plays.append(Play("cheat", "cheat", (cheat,) * 20, (50,) * 20, interval=(cheat, cheat)))
    return EnvPlay("x", tuple(plays), actions=2, reward_threshold=threshold)


def test_fires_when_it_reaches_the_threshold():
    assert "always 1: 20" in fires(ConstantActionSolves(), played(20.0, threshold=18.0)).seen


def test_fires_when_it_is_as_good_as_the_cheat():
    assert "the cheat has 20" in fires(ConstantActionSolves(), played(20.0, cheat=20.0)).seen


def test_quiet_below_the_threshold():
    quiet(ConstantActionSolves(), played(17.0, threshold=18.0))


def test_quiet_when_the_cheat_is_better():
    quiet(ConstantActionSolves(), played(17.0, cheat=18.0))


def test_quiet_without_a_bar_to_reach():
    quiet(ConstantActionSolves(), played(20.0))


def test_declines_without_a_constant_player():
    not_enough(ConstantActionSolves(), EnvPlay("x"))
