"""Programs that never learn."""

from typing import Any

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.optimizer.never_updated import NeverUpdated
from tests.programs import learning

rule = NeverUpdated()


def made(updates: int = 0, steps: int = 5000, **more: Any) -> Any:
    counts = {"all": {"updates": updates, "env_steps": steps, "phases": 0}}
    return learning.script([], counts=counts, optimizer={"adam": learning.optimizer({}, steps=updates)}, **more)


def test_an_optimizer_that_never_steps_in_the_whole_run_is_found() -> None:
    (found,) = rule.check(made())
    assert "5000" in found.seen


def test_a_program_that_learns_is_fine() -> None:
    assert not list(rule.check(made(updates=3)))


def test_a_program_that_was_stopped_or_only_tests_is_not_judged() -> None:
    for more in ({"meta": {"state": "stopped"}}, {"notes": ({"kind": "restored", "what": "module"},)}):
        with pytest.raises(NotEnough):
            list(rule.check(made(**more)))
