import multiprocessing

import pytest
import torch

from rldebug.capture import seeds
from rldebug.rules.seeding.unseeded_run import UnseededRun
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner
from tests.watched import watched

rule = UnseededRun()


@pytest.fixture(autouse=True)
def no_source(monkeypatch):
    """This very file speaks of manual_seed."""
    monkeypatch.setattr(seeds, "user_sources", dict)


def test_fires_as_a_note_when_nothing_is_seeded():
    assert fires(rule, watched(lambda: Learner().train_on(3))[1]).severity == "note"


def test_quiet_when_torch_is_seeded():
    def program():
        torch.manual_seed(1)
        Learner().train_on(3)

    quiet(rule, watched(program)[1])


def test_declines_when_seeds_are_not_watched():
    not_enough(rule, watched(lambda: Learner().train_on(3), without=("seeds",))[1])


def test_declines_when_workers_may_have_seeded():
    def program():
        worker = multiprocessing.get_context("fork").Process(target=int)
        worker.start()
        worker.join()
        Learner().train_on(3)

    not_enough(rule, watched(program)[1])


def test_declines_when_the_program_was_under_way_before_it_was_watched():
    not_enough(rule, watched(lambda: Learner().train_on(3), late=True)[1])
