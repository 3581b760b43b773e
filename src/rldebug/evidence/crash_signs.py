"""Signs of one mistake or another in a crash: what several rules ask, and how the values that met are told."""

from __future__ import annotations

import re
from math import prod

from rldebug.evidence.crash import Crash, Frame
from rldebug.evidence.crash_facts import Fact

_REFUSED = (
    r"Expected parameter \w+ .*of distribution|probability tensor contains either|invalid multinomial distribution"
    r"|[Pp]robabilities contain NaN|[Pp]robabilities do not sum|[Pp]robabilities are not non-negative"
)
_SHAPES = re.compile(r"[\[(](\d+(?:, ?\d+)*),?[\])]")
_LATE = 200  # updates after which NaN is called divergence rather than an undefined operation
_FAST = 0.05  # learning rate above which divergence needs no other cause


def refused_parameter(crash: Crash) -> str:
    """Why a distribution refused its parameters: empty if that is not what happened.

    parameter: finite, but no such distribution exists · input: the network was fed NaN · one sample: data of a single
    row is NaN · mask: what the loss was computed from was masked · diverged: late, or at a great learning rate ·
    network: the network gives NaN, and nothing tells why.
    """
    if not crash.says(f"(?s){_REFUSED}"):
        return ""
    given = [fact for fact in crash.operands().values() if fact["kind"] in ("tensor", "array")]
    networks = [fact for _, _, fact in crash.held("network")]
    broken = any(fact.get("nonfinite") for fact in networks)
    nan = crash.says(r"(?s)invalid values:.*\bnan\b", "contain NaN") or any(fact.get("nan") for fact in given)
    # Probabilities that are all 0 become NaN on their way: the distribution divides them by their sum.
    shape = re.search(r"Expected parameter probs \(\w+ of shape \(([\d, ]*)\)", crash.message)
    zeros = shape is not None and any(
        not fact.get("nan") and fact["shape"] == _numbers(shape.group(1)) and not broken for fact in given
    )
    if zeros or not (nan or (broken and not given)):
        return "parameter"
    data = [fact for _, _, fact in crash.held("tensor", "array") if not fact.get("ops")]
    if not broken:
        fed = any(fact["kind"] == "array" and fact.get("nan") for fact in data)
        return "input" if fed else "network"
    if any(fact.get("nan") and fact["shape"] and set(fact["shape"]) == {1} for fact in data):
        return "one sample"
    losses = [fact for _, _, fact in crash.held("tensor") if fact.get("nan") and fact.get("ops")]
    if any("MaskedFill" in fact["ops"] for fact in losses):
        return "mask"
    rates = [rate for _, _, fact in crash.held("optimizer") for rate in fact["lr"] if isinstance(rate, float)]
    return "diverged" if (crash.updates or 0) >= _LATE or max(rates, default=0) >= _FAST else "network"


def shapes_told(crash: Crash) -> list[list[int]]:
    """The shapes that did not meet: those in the message, and those of the operands."""
    said = re.sub(r"tensor [ab] \(\d+\)", "", crash.message)  # the length of one axis
    shapes = [_numbers(found) for found in _SHAPES.findall(said)]
    return shapes + [fact["shape"] for fact in crash.operands().values() if fact["kind"] in ("tensor", "array")]


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.replace(" ", "").split(",") if each]


def shapes_differ(crash: Crash) -> bool:
    return crash.says(
        r"The size of tensor a|must match the size of tensor b|could not be broadcast|could not broadcast",
        r"expanded size of the tensor|the number of sizes provided|must match the existing size|shape mismatch",
        r"output with shape .* doesn't match the broadcast shape|Sizes of tensors must match",
    )


def column_kept(crash: Crash) -> bool:
    """A column (n, 1) was brought together with n numbers, or is what became of the two: (n, n)."""
    shapes = shapes_told(crash)
    return shapes_differ(crash) and any(
        longer == [*shorter, 1] or (len(shorter) == 1 and longer == [*shorter, shorter[-1]])
        for longer in shapes
        for shorter in shapes
        if shorter
    )


def observation_spaces(crash: Crash) -> list[list[int]]:
    """The shapes that the environments in reach say their observations have."""
    spaces = [fact.get("observation_space") or {} for _, _, fact in crash.held("environment")]
    return [space["shape"] for space in spaces if space.get("shape")]


def calls(frame: Frame | None, *methods: str) -> bool:
    """Whether the line calls a method of one of these names: `x.step(`."""
    return frame is not None and any(f".{method}(" in frame.source for method in methods)


def width_refused(crash: Crash) -> str:
    """Whose mistake it is that a layer refused the width of its input: network, preprocessing, or empty if none did."""
    refused = crash.says(
        r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got input|mat\d? and vec"
        r"|Given normalized_shape=.*expected input with shape|running_mean should contain"
        r"|expected input.* to have \d+ channels|must be equal to input_size"
    )
    if not refused:
        return ""
    if crash.layer is None:
        carried = any(fact.get("ops") for fact in crash.operands().values())
        return "network" if carried else "preprocessing"
    if not crash.layer["first"]:
        return "network"
    # The first layer: either it was made wrongly, or what is fed to it was. The environment knows how wide it is.
    wide, got = crash.layer["weight"]["shape"][-1], (crash.layer["input"].get("shape") or [0])[-1]
    widths = {width for shape in observation_spaces(crash) for width in (prod(shape), shape[-1])}
    return "network" if got in widths and wide not in widths else "preprocessing"


def channels_misplaced(crash: Crash) -> bool:
    """A convolution that is fed from outside the network refused the axes of its input."""
    refused = crash.says(
        r"expected input.* to have \d+ channels", r"Expected \dD \(unbatched\) or \dD \(batched\) input to conv"
    )
    return refused and (crash.layer is None or bool(crash.layer["first"]))


def reset_kept_whole(crash: Crash) -> bool:
    """What reset() returns, observation and info, was used as if it were the observation."""
    pairs = [
        fact.get("items", [])
        for fact in [*crash.operands().values(), *(fact for _, _, fact in crash.held("collection"))]
        if fact.get("type") == "tuple" and fact.get("length") == 2
    ]
    pairs += [(crash.layer or {}).get("input", {}).get("items", [])]
    return any(len(pair) == 2 and pair[1].get("type") == "dict" for pair in pairs)


def observation_unlike_space(crash: Crash) -> bool:
    """A row was to be stored where the shape of the observation space was kept free, and has another."""
    found = re.search(r"input array from shape \(([\d,]*)\) into shape \(([\d,]*)\)", crash.message)
    if not found:
        return False
    row, kept = (_numbers(part) for part in found.groups())
    spaces = observation_spaces(crash)
    return kept in spaces and row not in spaces


def told(fact: Fact) -> str:
    """`(64, 1) float32 with a graph`."""
    kind = fact.get("kind")
    if kind in ("tensor", "array"):
        shape = f"({', '.join(str(each) for each in fact['shape'])}{',' if len(fact['shape']) == 1 else ''})"
        device = "" if fact.get("device", "cpu") == "cpu" else f" on {fact['device']}"
        graph = " with a graph" if fact.get("ops") else ""
        odd = " holding NaN" if fact.get("nan") else " holding infinities" if fact.get("inf") else ""
        return f"{shape} {fact['dtype']}{device}{graph}{odd}"
    if kind == "number":
        return f"{fact['value']}"
    if kind == "collection":
        return f"a {fact['type']} of {fact['length']}"
    return f"a {fact.get('type', kind)}"


def operands_told(crash: Crash) -> str:
    """`; logp is (64,) float32, advantage is (64, 1) float32`, or nothing."""
    shaped = [
        f"{name} is {told(fact)}"
        for name, fact in crash.operands().items()
        if fact["kind"] in ("tensor", "array", "collection", "number")
    ]
    return f"; {', '.join(shaped[:4])}" if shaped else ""
