import torch

from rldebug.rules.seeding.reseeded_in_loop import ReseededInLoop
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner
from tests.watched import watched

rule = ReseededInLoop()


def program(seed, rounds=12):
    def run():
        learner = Learner()
        for number in range(rounds):
            seed(number)
            learner.train_on(1)

    return run


def test_fires_when_the_same_seed_comes_back_in_every_round():
    found = fires(rule, watched(program(lambda _: torch.manual_seed(0)))[1])
    assert found.severity == "warning"
    assert "seeded 12 times" in found.seen


def test_quiet_when_the_seed_is_another_one_each_time():
    quiet(rule, watched(program(torch.manual_seed))[1])


def test_quiet_when_the_state_is_put_back():
    def seed(_):
        with torch.random.fork_rng():
            torch.manual_seed(0)

    quiet(rule, watched(program(seed))[1])


def test_quiet_when_a_new_training_begins_each_time():
    def run():
        for _ in range(8):
            torch.manual_seed(0)
            Learner().train_on(2)

    quiet(rule, watched(run)[1])


def test_declines_when_nothing_is_trained():
    not_enough(rule, watched(lambda: torch.manual_seed(0))[1])
