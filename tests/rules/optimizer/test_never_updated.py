"""Programs that never learn."""

from typing import Any

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.optimizer.never_updated import NeverUpdated
from tests.programs import learning
from tests.programs.rounds import dueling_dqn
from tests.watched import findings

rule = NeverUpdated()


def made(updates: int = 0, steps: int = 5000, **more: Any) -> Any:
    counts = {"all": {"updates": updates, "env_steps": steps, "phases": 0}}
    return learning.script([], counts=counts, optimizer={"adam": learning.optimizer({}, steps=updates)}, **more)


def test_fires_on_an_optimizer_that_never_steps_in_the_whole_run() -> None:
    (found,) = rule.check(made())
    assert "5000" in found.seen


def test_fires_on_a_warm_up_longer_than_the_run() -> None:
    # Kept to the end, as a script keeps what it makes: an optimizer that is gone by then, without a step, is not seen.
    kept: list[Any] = []
    (found,) = findings(lambda: kept.append(dueling_dqn("waits for ever", steps=2000)), rule.code)
    assert "2000 steps in the environment, 0 steps of Adam" in found.seen


def test_fires_where_what_was_saved_is_tried_out_at_the_end() -> None:
    saved, read = {"kind": "save", "env_step": 4000}, {"kind": "restored", "env_step": 5000, "file": "best.pt"}
    assert list(rule.check(made(notes=(saved, read))))


def test_declines_where_weights_are_read_before_or_were_saved_elsewhere() -> None:
    saved, read = {"kind": "save", "env_step": 4000}, {"kind": "restored", "env_step": 10, "file": "best.pt"}
    for notes in ((saved, read), ({**read, "env_step": 5000},)):
        with pytest.raises(NotEnough):
            list(rule.check(made(notes=notes)))


def test_quiet_on_a_program_that_learns() -> None:
    assert not list(rule.check(made(updates=3)))


def test_declines_on_a_program_that_was_stopped_or_only_tests() -> None:
    for more in ({"meta": {"state": "stopped"}}, {"notes": ({"kind": "restored", "what": "module"},)}):
        with pytest.raises(NotEnough):
            list(rule.check(made(**more)))
