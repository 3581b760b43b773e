"""Python looks for signals at calls and jumps back, not at `a @ b` or `x[i] = y`. A sample that was asked for in the
midst of such an operation is seen at the next call or jump: here, from there back to the operation itself."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType

_SLOW = ("BINARY_", "INPLACE_", "UNARY_", "COMPARE_OP", "CONTAINS_OP", "STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR")
_LOOKS = ("CALL", "RESUME", "SEND", "FOR_ITER")  # for signals, or may have called something that does
_BACK = ("JUMP_BACKWARD", "JUMP_ABSOLUTE", "POP_JUMP_BACKWARD")

JUMPS_BACK = frozenset(number for name, number in dis.opmap.items() if name.startswith(_BACK))
"""Opcodes of instructions that end the body of a loop."""


@lru_cache(maxsize=1024)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def operation_before(code: CodeType, at: int) -> int:
    """The last operation before an instruction that nothing has been looked for since; itself, where there is none."""
    for each in reversed(_instructions(code)):
        if each.offset >= at:
            if each.is_jump_target and each.offset == at:
                return at
            continue
        if each.opname.startswith(_SLOW):
            return int(each.offset)
        if each.opname.startswith(_LOOKS) or "JUMP" in each.opname:
            return at
        if each.is_jump_target:
            return at
    return at
