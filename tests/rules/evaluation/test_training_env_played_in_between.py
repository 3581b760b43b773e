import pytest

from rldebug.evidence.script import Script
from rldebug.rules.evaluation import training_env_played_in_between
from rldebug.rules.evaluation.training_env_played_in_between import TrainingEnvPlayedInBetween
from tests.judge import fires, quiet
from tests.programs.written import found

CODE = "EVA351"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "shared", "played")
    assert finding.component == "evaluation"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="played")


@pytest.fixture
def played(monkeypatch):
    def told(seeds, after=1):
        stream = {"index": 0, "lanes": 1, "resets": 30, "episodes": 29, "stepped_after_end": after, "seeds": seeds}
        monkeypatch.setattr(training_env_played_in_between, "training_streams", lambda script: [stream])
        return TrainingEnvPlayedInBetween(), Script()

    return told


def test_fires_once_where_episodes_with_seeds_were_played_in_between(played):
    fires(*played([0, None, None, None, 100, 101, 102, None, None]))


def test_quiet_where_it_was_reset_afterwards_or_nothing_tells_of_another_loop(played):
    quiet(*played([0, None, None, None, 100, 101, 102, None, None], after=0))
    quiet(*played([0, None, None, None, None]))
    quiet(*played([0, 1, 2, None, None]))  # begun with seeds
    quiet(*played([None, None, 7, None, None]))
