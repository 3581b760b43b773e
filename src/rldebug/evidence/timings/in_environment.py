"""Time inside of an environment: the simulator's, that of what is wrapped around it, resets, pictures."""

from __future__ import annotations

from collections.abc import Iterable

from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.libraries import module_of, told


def part_inside(each: Slice) -> str:
    """The innermost that is an environment or a wrapper does the work."""
    if any(told(spot) == "waiting" for spot in _below_vector(each)):
        return "waiting"
    if any(name_of(spot) in ("reset", "reset_async", "reset_wait") for spot in each.stack if of_environment(spot)):
        return "reset"
    if each.after == "reset":
        return "reset"
    inner = next((spot for spot in reversed(each.stack) if of_environment(spot)), None)
    if inner is None or inner.role == "environment" or _simulates(inner):
        return "simulator"
    return "wrappers"


def _simulates(spot: Spot) -> bool:
    """A vector that has no environments in it, but arrays: one of the user's own class, or of Gymnasium's."""
    owner, _, _ = spot.function.rpartition(".")
    own = spot.kind == "user" and bool(owner) and not owner.endswith("<locals>")
    return spot.role == "vector" and (own or module_of(spot.file).startswith("gymnasium.envs."))


def _below_vector(each: Slice) -> Iterable[Spot]:
    """Frames that a vector of environments has called without calling an environment: it waits for others to."""
    roles = [spot.role for spot in each.stack]
    if "environment" in roles or "vector" not in roles:
        return ()
    return each.stack[roles.index("vector") :]


def of_environment(spot: Spot) -> bool:
    return spot.role in ("environment", "wrapper", "vector")


def renders(each: Slice) -> bool:
    return any(
        (of_environment(spot) and name_of(spot) == "render") or module_of(spot.file).partition(".")[0] == "pygame"
        for spot in each.stack
    )


def name_of(spot: Spot) -> str:
    """Of its function, without the class."""
    return spot.function.rpartition(".")[2]
