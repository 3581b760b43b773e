"""Signs of one mistake or another in a crash: what several rules ask, and how the values that met are told."""

from __future__ import annotations

import re
from math import prod

from rldebug.evidence.crash import Crash, Frame
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.nan import SPREADS

_REFUSED = (
    r"Expected parameter \w+ .*of distribution|probability tensor contains either|invalid multinomial distribution"
    r"|input is not positive-definite|[Pp]robabilities contain NaN|[Pp]robabilities do not sum|[Pp]robabilities are "
    r"not non-negative"
)
_SHAPES = re.compile(r"[\[(](\d+(?:, ?\d+)*),?[\])]")
_LATE = 200  # updates after which NaN is called divergence rather than an undefined operation
_MANY_PARAMETERS = 1000  # a length that is hardly anything else
_FAST, _ABSURD = 0.05, 1  # learning rates from which divergence needs no other cause, and has none


def refused_parameter(crash: Crash) -> str:
    """Why a distribution refused its parameters: empty if that is not what happened.

    parameter: finite, but no such distribution exists · input: the network was fed NaN · one sample: NaN came by a
    standard deviation of one number · mask: what the loss was computed from was masked · rate: the learning rate is
    absurd · diverged: late · network: the network gives NaN, and nothing tells why.
    """
    if not crash.says(f"(?s){_REFUSED}"):
        return ""
    given = [fact for fact in crash.operands().values() if fact["kind"] in ("tensor", "array")]
    networks = [fact for _, _, fact in crash.held("network")]
    loose = [fact for _, _, fact in crash.held("tensor") if fact.get("leaf") and fact.get("nan")]  # a log_std
    broken = bool(loose) or any(fact.get("nonfinite") for fact in networks)
    nan = crash.says(r"(?s)invalid values:.*\bnan\b", "contain NaN") or any(fact.get("nan") for fact in given)
    # Probabilities that are all 0 become NaN on their way: the distribution divides them by their sum.
    shape = re.search(r"Expected parameter probs \(\w+ of shape \(([\d, ]*)\)", crash.message)
    zeros = shape is not None and any(
        not fact.get("nan") and fact["shape"] == _numbers(shape.group(1)) and not broken for fact in given
    )
    if zeros or not (nan or (broken and not given)):
        return "parameter"
    if not broken:
        named = crash.operands()  # what the distribution itself was made of
        fed = any(fact.get("nan") and name not in named for _, name, fact in crash.held("array"))
        return "input" if fed or _data_became_nan(crash) else "network"
    if crash.nan is not None and crash.nan.get("one"):
        return "one sample"
    losses = [fact for _, _, fact in crash.held("tensor") if fact.get("nan") and fact.get("ops")]
    if any("MaskedFill" in fact["ops"] for fact in losses):
        return "mask"
    fastest = max(rates_of(crash), default=0)
    if fastest >= _ABSURD or (fastest >= _FAST and not (crash.nan and crash.nan["by"])):
        return "rate"
    grown = crash.nan is not None and bool(crash.nan.get("grown"))
    return "diverged" if grown or (crash.updates or 0) >= _LATE else "network"


def rates_of(crash: Crash) -> list[float]:
    """The learning rates of the optimizers in reach."""
    rates = [rate for _, _, fact in crash.held("optimizer") for rate in fact["lr"]]
    return sorted({rate for rate in rates if isinstance(rate, int | float)})


def _data_became_nan(crash: Crash) -> bool:
    """What became NaN first has no graph, and no network made it."""
    made = crash.nan
    return made is not None and not (made["network"] or made["value"].get("ops") or made["name"] in crash.operands())


def nan_told(crash: Crash) -> str:
    """`; NaN came first into adv (64,) float32, train.py:40, by a standard deviation`, or nothing."""
    if crash.nan is None:
        return ""
    name, value, by, place = (crash.nan[each] for each in ("name", "value", "by", "place"))
    cause = f", by {by[0]}{' of one sample' if crash.nan.get('one') and by[0] in SPREADS else ''}" if by else ""
    inside = crash.nan.get("at", {}).get("place", place)
    first = "infinity" if crash.nan.get("odd") == "inf" else "NaN"
    held = told(value).removesuffix(" holding NaN").removesuffix(" holding infinities")
    return f"; {first} came first into {name} {held}, {place}{cause}{f' in {inside}' if inside != place else ''}"


_MENDED = {
    "a standard deviation": "add 1e-8 to the standard deviation, and leave out what has one sample",
    "a variance": "add 1e-8 to the variance, and leave out what has one sample",
    "a logarithm": "keep its argument above 0: x.clamp_min(1e-8).log()",
    "a square root": "keep its argument above 0: x.clamp_min(1e-8).sqrt()",
    "an inverse tanh": "keep its argument inside of ±(1 - 1e-6)",
    "an exponential": "limit the exponent: subtract the maximum, or clamp it to 20",
    "a division": "keep the divisor away from 0: add 1e-8",
}


def nan_mended(crash: Crash) -> str:
    """What to change in the line where NaN came first; empty where that is not known."""
    by = crash.nan["by"] if crash.nan else []
    known = [_MENDED[each] for each in by if each in _MENDED]
    return f"in {crash.nan.get('at', crash.nan)['place']}: {known[0]}" if crash.nan and known else ""


def shapes_told(crash: Crash) -> list[list[int]]:
    """The shapes that did not meet: those in the message, and those of the operands."""
    one_axis = r"(tensor [ab]|size of the tensor|existing size|sizes provided|dimensions in the tensor) \(\d+\)"
    said = re.sub(one_axis, "", crash.message)
    shapes = [_numbers(found) for found in _SHAPES.findall(said)]
    return shapes + [fact["shape"] for fact in crash.operands().values() if fact["kind"] in ("tensor", "array")]


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.replace(" ", "").split(",") if each]


def shapes_differ(crash: Crash) -> bool:
    return crash.says(
        r"The size of tensor a|must match the size of tensor b|could not be broadcast|could not broadcast",
        r"expanded size of the tensor|the number of sizes provided|must match the existing size|shape mismatch",
        r"output with shape .* doesn't match the broadcast shape|Sizes of tensors must match",
        r"that is different to the input size|Target size .* must be the same as input size|inconsistent tensor size",
        r"Expected input batch_size .* to match target batch_size",
    )


def writes(crash: Crash) -> bool:
    """Whether the line writes into a part of something: `rewards[step] = reward`."""
    return crash.at is not None and bool(
        re.search(r"\]\s*(,.*)?[-+*/|&]?=[^=]|copy_\(|copyto\(|\.put\(", crash.at.source)
    )


def shapes_meet_badly(crash: Crash) -> bool:
    """Two shapes did not fit in a computation, and none of the mistakes that have a name of their own explains it."""
    joined = crash.says("Sizes of tensors must match except")
    named = column_kept(crash) or parameters_meet(crash) or writes(crash) or joined
    return shapes_differ(crash) and not named and not crash.inside("torch.distributions", "gymnasium")


def is_entropy(crash: Crash) -> bool:
    """Whether one of what met is −Σ π log π, by the graph behind it."""
    graphs = [fact.get("ops") or [] for fact in crash.operands().values()]
    return any(ops[:3] == ["Neg", "Sum", "Mul"] and "Softmax" in ops and "Gather" not in ops for ops in graphs)


def parameters_meet(crash: Crash) -> bool:
    """One of the lengths that did not fit is the number of parameters of a module."""
    if not (shapes_differ(crash) or reshape_refused(crash)):
        return False
    counts = [int(size) for size, what in crash.sizes.items() if "parameters of" in what]
    flat = crash.inside("torch.nn.utils.convert_parameters")
    return flat or len(counts) > 1 or any(each >= _MANY_PARAMETERS for each in counts)


def reshape_refused(crash: Crash) -> bool:
    return crash.says(
        r"shape '.*' is invalid for input of size",
        "cannot reshape (array|tensor) of",
        "unflatten: Provided sizes",
        "split_with_sizes expects split_sizes to sum exactly",
    )


def mask_refused(crash: Crash) -> bool:
    """A mask is of numbers, and was to be of flags."""
    return crash.says(
        "masked_fill_? only supports boolean masks|expected condition to be a boolean tensor",
        "masked_select: expected BoolTensor",
    )


def one_axis(crash: Crash) -> bool:
    """Whether what met in the line has one number for each row: there are no actions to choose among."""
    axes = [len(fact["shape"]) for fact in crash.operands().values() if fact["kind"] in ("tensor", "array")]
    return bool(axes) and max(axes) == 1


def axis_missing(crash: Crash) -> bool:
    """An axis was asked for that a tensor or an array does not have."""
    return crash.says(
        r"Dimension out of range \(expected to be in range of|Dimension specified as -?\d+ but tensor has no "
        r"dimensions",
        r"axis -?\d+ is out of bounds for array of dimension|too many indices for (tensor|array)",
        r"input\.dim\(\) = \d+ is not equal to len\(dims\)|axes don't match array",
    )


AXIS_HELP = (
    "print the shape: give one observation a batch axis with .unsqueeze(0), count axes from the end with dim=-1, "
    "and write .squeeze(-1) in place of .squeeze()"
)


def fed_told(crash: Crash) -> str:
    """`; a Conv2d was fed with (1, 84, 84, 4) uint8`; where no layer is known, what the names in the line held."""
    if not crash.layer:
        return operands_told(crash)
    return f"; the {crash.layer['type']} was fed with {told(crash.layer['input'])}{sizes_told(crash)}"


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
    if not refused or crash.graph.get("fault") == "observed":
        return ""  # the environment gives another width than it declares
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
    # Of a printed traceback only the message is left: hardly anything else that is fed is a tuple.
    told = not any(frame.facts for frame in crash.frames) and crash.says(r"\(got tuple\)", "must be Tensor, not tuple")
    return told or any(len(pair) == 2 and pair[1].get("type") == "dict" for pair in pairs)


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
        shape = _shape(fact["shape"])
        device = "" if fact.get("device", "cpu") == "cpu" else f" on {fact['device']}"
        graph = " with a graph" if fact.get("ops") else ""
        odd = " holding NaN" if fact.get("nan") else " holding infinities" if fact.get("inf") else ""
        return f"{shape} {fact['dtype']}{device}{graph}{odd}"
    if kind == "number":
        return f"{fact['value']}"
    if kind == "collection":
        shapes = dict.fromkeys(_shape(each["shape"]) for each in fact.get("items", []) if each.get("shape") is not None)
        of = f", of {' and '.join(list(shapes)[:3])}" if shapes else ""
        return f"a {fact['type']} of {fact['length']}{of}"
    return f"a {fact.get('type', kind)}"


def _shape(shape: list[int]) -> str:
    return f"({', '.join(str(each) for each in shape)}{',' if len(shape) == 1 else ''})"


def operands_told(crash: Crash) -> str:
    """`; logp is (64,) float32, advantage is (64, 1) float32`, or nothing."""
    shaped = [
        f"{name} is {told(fact)}"
        for name, fact in crash.operands().items()
        if fact["kind"] in ("tensor", "array", "collection", "number")
    ]
    return (f"; {', '.join(shaped[:4])}" if shaped else "") + sizes_told(crash)


def sizes_told(crash: Crash) -> str:
    """`; 18656 is the parameters of policy, 8 is n_envs`, or nothing."""
    known = [f"{size} is {what}" for size, what in crash.sizes.items() if int(size) != 1]  # an axis that was kept
    return f"; {', '.join(known[:4])}" if known else ""


def unpickled(crash: Crash) -> bool:
    """Whether a file or a text was being unpickled by the user's own line; what comes from a worker is none."""
    if crash.inside("multiprocessing", "torch.multiprocessing", "concurrent", "gymnasium.vector", "cloudpickle"):
        return False
    line = crash.at.source if crash.at else ""
    return crash.inside("torch.serialization") or bool(re.search(r"\b(pickle|torch|joblib|dill)\.loads?\(", line))


def ordered_by_priority(crash: Crash) -> bool:
    """Whether entries of a heap, a priority queue or a sorted list were being compared."""
    line = crash.at.expression if crash.at else ""
    called = re.search(r"\bheap(push|pop|ify|replace|pushpop)\(|\binsort\w*\(", line)
    return called is not None or crash.inside("heapq", "queue", "bisect")
