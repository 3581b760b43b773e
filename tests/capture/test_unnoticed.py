"""From the call at which a signal was noticed back to the operation that held it up."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

from rldebug.capture.unnoticed import JUMPS_BACK, operation_before


def _calls(function: Callable[..., Any]) -> list[int]:
    return [each.offset for each in dis.get_instructions(function) if each.opname.startswith("CALL")]


def _line(function: Callable[..., Any], at: int) -> int:
    """Counted from the one that says `def`."""
    lines = [line for start, end, line in function.__code__.co_lines() if start <= at < end and line is not None]
    return lines[0] - function.__code__.co_firstlineno


def test_a_product_before_a_call_is_found() -> None:
    def update(a: Any, b: Any, step: Any) -> Any:
        c = a @ b
        step()
        return c

    (call,) = _calls(update)
    assert _line(update, call) == 2
    assert _line(update, operation_before(update.__code__, call)) == 1


def test_what_came_before_another_call_was_noticed_there() -> None:
    def update(a: Any, b: Any, step: Any) -> Any:
        c = a @ b
        step()
        step()
        return c

    assert operation_before(update.__code__, _calls(update)[1]) == _calls(update)[1]


def test_an_item_that_is_set_at_the_end_of_a_loop_is_found_from_the_jump_back() -> None:
    def fill(rows: Any, value: Any) -> None:
        for i in rows:
            rows[i] = value

    jumps = [each.offset for each in dis.get_instructions(fill) if each.opcode in JUMPS_BACK]
    assert len(jumps) == 1
    assert operation_before(fill.__code__, jumps[0]) != jumps[0]
    assert _line(fill, operation_before(fill.__code__, jumps[0])) == 2
