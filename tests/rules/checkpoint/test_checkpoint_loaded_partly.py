import io

import torch

from rldebug.rules.checkpoint.checkpoint_loaded_partly import CheckpointLoadedPartly
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner, legs
from tests.watched import watched

rule = CheckpointLoadedPartly()


def test_fires_as_an_error_when_no_name_fits():
    def take(learner, saved):
        learner.load_state_dict({f"module.{key}": each for key, each in saved["nets"].items()}, strict=False)

    found = fires(rule, watched(legs(take=take))[1])
    assert found.severity == "error"
    assert "module." in found.seen


def test_fires_when_a_part_of_our_own_file_does_not_fit():
    def take(learner, saved):
        learner.load_state_dict({key: each for key, each in saved["nets"].items() if "2." not in key}, strict=False)

    assert fires(rule, watched(legs(take=take))[1]).severity == "warning"


def test_quiet_when_everything_fits():
    quiet(rule, watched(legs())[1])


def test_quiet_when_strict_is_off_and_everything_fits():
    quiet(rule, watched(legs(take=lambda learner, saved: learner.load_state_dict(saved["nets"], strict=False)))[1])


def test_declines_when_nothing_is_loaded():
    def program():
        torch.save(Learner().state_dict(), io.BytesIO())

    not_enough(rule, watched(program)[1])
