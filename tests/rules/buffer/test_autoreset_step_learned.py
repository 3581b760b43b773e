from __future__ import annotations

from rldebug.rules.buffer.autoreset_step_learned import AutoresetStepLearned
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_rows_in_which_the_action_was_ignored() -> None:
    (finding,) = found(AutoresetStepLearned(), seen(watched, "ppo", "autoreset"))
    assert finding.severity == "warning"


def test_a_note_where_such_rows_are_few() -> None:
    (finding,) = found(AutoresetStepLearned(sure=0.2, many=0.2), seen(watched, "ppo", "autoreset"))
    assert finding.severity == "note"


def test_quiet_where_the_reset_is_in_the_same_step() -> None:
    assert not found(AutoresetStepLearned(), seen(watched, "ppo"))


def test_quiet_where_such_rows_are_computed_and_left_out_of_the_loss() -> None:
    assert not found(AutoresetStepLearned(), seen(watched, "ppo", "autoreset masked"))
