"""Parameters as one flat vector: get, and set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.made import SHAPES, SIZE, Net, flat_of, made, making, pieces
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats

_COUNTS = [int(np.prod(shape)) for shape in SHAPES]
_ORDERS = {"given": (0, 1, 2, 3), "reversed": (3, 2, 1, 0), "sorted": (1, 0, 3, 2), "weights first": (0, 2, 1, 3)}
_PARTS = {"all": (0, 1, 2, 3), "weights": (0, 2), "biases": (1, 3), "first": (0,), "all but the last": (0, 1, 2)}


def reference(case: Case) -> Values:
    if case.given.get("setting"):
        return {"parameters": case["flat"], "replaced": np.zeros(()), "misshapen": np.zeros(())}
    flat = case["gradient"] if case.given.get("what") == "gradient" else case["parameters"]
    return {"flat": flat, "parameters": case["parameters"], "replaced": np.zeros(()), "misshapen": np.zeros(())}


def variant(
    case: Case,
    *,
    what: str = "",  # parameters, gradient; as told unless given
    order: str = "given",
    transposed: bool = False,
    part: str = "all",
    offset: str = "count",  # how far the place moves: count, none, rows
    added: bool = False,
    nothing: bool = False,
    replaced: bool = False,
    misshapen: bool = False,
) -> Values:
    before = floats(case["parameters"])
    places = {"replaced": np.asarray(float(replaced)), "misshapen": np.asarray(float(misshapen))}
    if case.given.get("setting"):
        after = _set(before, floats(case["flat"]), order, transposed, part, offset, added=added)
        return {"parameters": before if nothing else after, **places}
    taken = floats(case["gradient"]) if (what or case.given.get("what", "")) == "gradient" else before
    parts = pieces(taken)
    chosen = [parts[i] for i in _ORDERS[order] if i in _PARTS[part]]
    flat = np.concatenate([(each.T if transposed else each).ravel() for each in chosen])
    return {"flat": _padded(flat), "parameters": before, **places}


def _set(before: Array, flat: Array, order: str, transposed: bool, part: str, offset: str, *, added: bool) -> Array:
    after = pieces(before)
    place = 0
    for i in _ORDERS[order]:
        if i not in _PARTS[part]:
            continue
        values = flat[place : place + _COUNTS[i]]
        shape = SHAPES[i]
        new = values.reshape(shape[::-1]).T if transposed else values.reshape(shape)
        after[i] = after[i] + new if added else new
        place += {"count": _COUNTS[i], "none": 0, "rows": shape[0]}[offset]
    return np.concatenate([each.ravel() for each in after])


def _padded(flat: Array) -> Array:
    """As long as it should be: with nothing at the end where parameters are missing."""
    return np.concatenate([flat, np.full(max(SIZE - flat.size, 0), np.nan)])


def told(case: Case, bound: frozenset[str]) -> Case:
    return case.but(setting="flat" in bound, what="gradient" if "loss" in bound else "")


def build(case: Case) -> Mapping[str, Any]:
    net = Net(case["parameters"])
    if case.given.get("strided"):
        net.first.weight.data = net.first.weight.data.t().contiguous().t()
    loss = torch.zeros(())
    for parameter, gradient in zip(net.parameters(), pieces(case["gradient"]), strict=True):
        parameter.grad = torch.from_numpy(gradient).float()
        loss = loss + (parameter * parameter.grad).sum()
    return {
        "network": net,
        "parameters": list(net.parameters()),
        "before": list(net.parameters()),
        "arrays": pieces(case["parameters"]),
        "gradients": [each.grad.clone() for each in net.parameters() if each.grad is not None],
        "shapes": [tuple(shape) for shape in SHAPES],
        "loss": loss,
    }


def read(built: Mapping[str, Any], handed: frozenset[str], returned: Any) -> Any:
    if not built:
        return returned
    net, before = built["network"], built["before"]
    holder = built["arrays"] if "arrays" in handed else net
    if "parameters" in handed and any(a is not b for a, b in zip(built["parameters"], before, strict=False)):
        holder = built["parameters"]  # the list holds other tensors now
    made_anew = [*net.parameters()] if holder is net else []
    if (isinstance(returned, (list, tuple)) and len(returned) == len(SHAPES) and _size(returned) == SIZE) or (
        isinstance(returned, Mapping) and _size(returned) == SIZE
    ):
        holder = returned
    seen: dict[str, Any] = {"flat": _answer(returned) if holder is not returned else np.full(SIZE, np.nan)}
    if "gradients" in handed and holder is not returned:
        return {"flat": seen["flat"]}
    shapes = [tuple(np.shape(_plain(each))) for each in _each(holder)]
    seen["parameters"] = flat_of(holder)
    seen["replaced"] = float(any(a is not b for a, b in zip(made_anew, before, strict=False)))
    seen["replaced"] = max(seen["replaced"], float(holder is built["parameters"]))
    seen["misshapen"] = float(shapes != [tuple(shape) for shape in SHAPES])
    return seen


def _size(returned: Any) -> int:
    flat = flat_of(returned)
    return 0 if flat is None else flat.size


def _each(holder: Any) -> list[Any]:
    if isinstance(holder, Net):
        return list(holder.parameters())
    return list(holder.values()) if isinstance(holder, Mapping) else list(holder)


def _plain(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def _answer(returned: Any) -> Any:
    if returned is None or isinstance(returned, torch.nn.Module):
        return np.full(SIZE, np.nan)
    try:
        array = np.asarray(_plain(returned), dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        return np.full(SIZE, np.nan)
    return _padded(array) if array.ndim == 1 else array


def adapt(target: Any) -> Any:
    return making(target, build, read, FLAT_PARAMETERS)


def cases() -> list[Case]:
    ups = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    return [
        _case("parameters 1 to 9", ups, [-1, -2, -3, -4, -5, -6, -7, -8, -9], [10, 20, 30, 40, 50, 60, 70, 80, 90]),
        _case("a weight stored by columns", ups, ups[::-1], ups, strided=True),
        _case("parameters of both signs", [0.5, -3, 2, 7, -1, 4, 0, 6, -2], ups, [2, 4, -1, 0, 3, -5, 8, 1, 6]),
    ]


def _case(name: str, parameters: Any, flat: Any, gradient: Any, *, strided: bool = False) -> Case:
    given = {"parameters": floats(parameters), "flat": floats(flat), "gradient": floats(gradient)}
    return Case(name, {**given, "strided": strided, "sizes": {"P": SIZE}}, edge=strided)


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(-9, 9).map(float), min_size=SIZE, max_size=SIZE)
    return _case("parameters drawn at random", draw(numbers), draw(numbers), draw(numbers))


_NET = (
    "network net model module policy actor critic agent actor_critic q_network ac nn policy_net value_net actor_net "
    "critic_net mlp pi"
)
_PARAMETERS = (
    "parameters params param weights variables vars var_list variable_list theta p model_params arrays "
    "tensors xs inputs ps"
)

FLAT_PARAMETERS = Oracle(
    name="flat-parameters",
    aliases="flat-params get-flat-params set-flat-params flatten-parameters flat-parameters-get flat-parameters-set "
            "flat-grad",
    code="OPT100",
    summary="Flat parameters: all parameters one after the other as one vector, and back, in the same order and "
            "shapes.",
    formula="flat = [θ_1 … θ_k], each row by row, in the order of parameters()",
    example="def set_flat_params(model, flat_params), or def get_flat_params(model)",
    quantities=(
        made("network", _NET),
        made("parameters", f"{_PARAMETERS} {_NET}"),
        made("arrays", _PARAMETERS),
        made("gradients", "gradients grads grad gradient grad_list"),
        made("shapes", "shapes param_shapes sizes shape"),
        made("loss", "loss y output f objective kl func_output out scalar function surrogate loss_pi"),
        Quantity("flat", "flat flat_params flat_parameters vector vec flattened new_params new_parameters params_flat "
                         "flat_vector "
                 "new_flat_params theta x flat_weights new_theta values flat_param v new_weights flattened_params", "P",
                 meaning="the flat vector"),
        Quantity("flat", "params parameters param weights theta", "P", with_=("network",), meaning="the flat vector"),
    ),
    outputs=(
        Output("flat", "flat", "P"), Output("parameters", "parameters", "P"),
        Output("replaced", "replaced"), Output("misshapen", "misshapen"),
    ),
    required=("network|parameters|arrays|gradients|shapes",),
    columns=("parameters", "flat"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    adapt=adapt,
    styles=(Style("usual"), Style("the gradients", {"what": "gradient"})),
    mistakes=(
        Mistake(
            "OPT101", "flat-parameters-no-effect", "The parameters stay as they were.",
            knobs={"nothing": True},
            wrong="p = flat[i:i + n].view_as(p)",
            right="p.data.copy_(flat[i:i + n].view_as(p))",
            harm="The policy never moves: the line search compares the old policy with itself.",
            fix="write into the parameters: p.data.copy_(…)",
        ),
        Mistake(
            "OPT102", "flat-parameters-offset-stuck", "Every parameter is read from the beginning of the vector.",
            knobs={"offset": "none"},
            wrong="p.data.copy_(flat[i:i + n].view_as(p))  # and i stays 0",
            right="p.data.copy_(flat[i:i + n].view_as(p)); i += n",
            harm="All layers get the numbers of the first one: the policy is destroyed at the first update.",
            fix="move the place by the number of elements after each parameter",
        ),
        Mistake(
            "OPT103", "flat-parameters-offset-by-rows", "The place moves by the number of rows, not of elements.",
            knobs={"offset": "rows"},
            wrong="i += len(p)",
            right="i += p.numel()",
            harm="Layers get each other's numbers: the policy is destroyed at the first update.",
            fix="move the place by p.numel()",
        ),
        Mistake(
            "OPT104", "flat-parameters-order-changed", "The parameters come in another order than that of "
                                                       "parameters().",
            knobs=({"order": "reversed"}, {"order": "sorted"}, {"order": "weights first"}),
            wrong="for name in sorted(dict(model.named_parameters())): …",
            right="for p in model.parameters(): …",
            harm="Written back with another function, every layer gets the numbers of another one.",
            fix="go through parameters() in its own order, for get, set and gradients alike",
            fine="Where get, set and gradients all use this order.",
        ),
        Mistake(
            "OPT105", "flat-parameters-transposed", "Weights are read column by column.",
            knobs={"transposed": True},
            wrong="torch.cat([p.t().flatten() for p in model.parameters()])",
            right="torch.cat([p.flatten() for p in model.parameters()])",
            harm="Written back row by row, the weights of a layer are shuffled.",
            fix="flatten without transposing",
            fine="Where get, set and gradients all do so.",
        ),
        Mistake(
            "OPT106", "flat-parameters-some-missing", "Some of the parameters are left out.",
            knobs=tuple({"part": part} for part in _PARTS if part != "all"),
            wrong="torch.cat([p.flatten() for n, p in model.named_parameters() if 'weight' in n])",
            right="torch.cat([p.flatten() for p in model.parameters()])",
            harm="What is left out is never updated.",
            fix="go through all parameters",
            fine="Where the others are held fixed on purpose.",
        ),
        Mistake(
            "OPT107", "flat-parameters-added", "The vector is added to the parameters, where it should replace them.",
            knobs={"added": True},
            wrong="p.data.add_(flat[i:i + n].view_as(p))",
            right="p.data.copy_(flat[i:i + n].view_as(p))",
            harm="A line search adds one step to the other, and going back to the old parameters doubles them.",
            fix="use copy_",
            fine="Where the vector is a step and not the parameters.",
        ),
        Mistake(
            "OPT108", "flat-parameters-replaced", "New tensors take the place of the parameters.",
            knobs={"replaced": True},
            wrong="layer.weight = nn.Parameter(flat[i:i + n].view_as(layer.weight))",
            right="layer.weight.data.copy_(flat[i:i + n].view_as(layer.weight))",
            harm="Optimisers, and whoever else holds the old tensors, go on with those: the network no longer learns.",
            fix="write into the tensors that are there",
        ),
        Mistake(
            "OPT109", "flat-parameters-shapes-lost", "The parameters lose their shapes.",
            knobs={"misshapen": True},
            wrong="p.data = flat[i:i + n]",
            right="p.data.copy_(flat[i:i + n].view_as(p))",
            harm="The next forward pass raises, or multiplies by a vector where a matrix belongs.",
            fix="view the piece in the shape of the parameter",
        ),
    ),
)  # fmt: skip
