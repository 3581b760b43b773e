"""Gradient clipping by the global norm, or by value."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.made import SHAPES, SIZE, Net, flat_of, made, making, pieces
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats

_LAST = SIZE - int(np.prod(SHAPES[-1]))


def reference(case: Case) -> Values:
    limit = case["limit"]
    if case.given.get("how", "norm") == "value":
        clipped = [min(max(each, -limit), limit) for each in case["gradient"]]
    else:
        norm = sum(each**2 for each in case["gradient"]) ** 0.5
        clipped = [each * limit / norm if norm > limit else each for each in case["gradient"]]
    return {"gradient": np.array(clipped, dtype=np.float64), "weights": case["weights"]}


def variant(
    case: Case,
    *,
    how: str = "",  # norm, value; as told unless given
    norm: str = "global",  # global, each, squared, added, largest, last, root-mean-square
    when: str = "above",  # above, below, always
    scale: str = "limit/norm",  # limit/norm, norm/limit, 1/norm
    zero: float = 0.0,  # what 0/0 gives
    sides: str = "both",
    scaled: str = "all",  # all, first, none
    weights: bool = False,  # the weights are clipped, and not the gradients
) -> Values:
    gradient, theta, limit = floats(case["gradient"]), floats(case["weights"]), float(case["limit"])
    given = theta if weights else gradient
    if (how or case.given.get("how", "norm")) == "value":
        low = -limit if sides == "both" else -np.inf
        clipped: Array = np.clip(given, low, limit)
    else:
        clipped = given * _factor(given, limit, norm, when, scale, zero)
    untouched = {"all": np.zeros(SIZE, bool), "none": np.ones(SIZE, bool), "first": np.arange(SIZE) >= 4}[scaled]
    clipped = np.where(untouched, given, clipped)
    return {"gradient": gradient if weights else clipped, "weights": clipped if weights else theta}


def _factor(given: Array, limit: float, norm: str, when: str, scale: str, zero: float) -> Array:
    """What each number is multiplied by."""
    parts = pieces(given)
    norms = np.array([np.linalg.norm(each) for each in parts])
    if norm == "each":
        size = np.concatenate([np.full(each.size, one) for each, one in zip(parts, norms, strict=True)])
    else:
        whole = {
            "global": np.sqrt((norms**2).sum()),
            "squared": (norms**2).sum(),
            "added": norms.sum(),
            "largest": norms.max(),
            "last": norms[-1],
            "root-mean-square": np.sqrt((norms**2).sum() / given.size),
        }[norm]
        size = np.full(given.size, whole)
    touched = {"above": size > limit, "below": size < limit, "always": np.ones(given.size, bool)}[when]
    with np.errstate(divide="ignore", invalid="ignore"):
        times = {"limit/norm": limit / size, "norm/limit": size / limit, "1/norm": 1.0 / size}[scale]
    times = np.where(size == 0.0, zero, times)
    return np.where(touched, times, 1.0)


def told(case: Case, bound: frozenset[str]) -> Case:
    return case.but(how="value") if "clip_value" in bound else case


def fair(case: Case, bound: frozenset[str]) -> bool:
    return not case.given.get("without") or not {"gradients", "gradient arrays"} & bound


def build(case: Case) -> Mapping[str, Any]:
    net = Net(case["weights"])
    for parameter, gradient in zip(net.parameters(), pieces(case["gradient"]), strict=True):
        parameter.grad = torch.from_numpy(gradient).float()
    if case.given.get("without"):
        net.second.bias.grad = None
    return {
        "network": net,
        "parameters": list(net.parameters()),
        "optimizer": SimpleNamespace(param_groups=[{"params": list(net.parameters())}]),
        "gradients": [torch.from_numpy(each).float() for each in pieces(case["gradient"])],
        "gradient arrays": pieces(case["gradient"]),
    }


def read(built: Mapping[str, Any], handed: frozenset[str], returned: Any) -> Any:
    for name in ("gradients", "gradient arrays"):
        if name in handed:
            given_back = [returned, *returned] if isinstance(returned, (list, tuple)) else [returned]
            answers = [each for each in map(flat_of, given_back) if each is not None and each.size == SIZE]
            return {"gradient": answers[0] if answers else flat_of(built[name])}
    if not built:
        return returned
    net = built["network"]
    gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in net.parameters()]
    return {"gradient": flat_of(gradients), "weights": flat_of(net)}


def adapt(target: Any) -> Any:
    return making(target, build, read, GRADIENT_CLIPPING)


def cases() -> list[Case]:
    theta = [1, -2, 0.5, 3, 0, -1, 2, 1, -0.5]
    one = [3, 0, 0, 4, 0, 0, 0, 0, 0]
    mixed = [2, -2, 4, 1, 2, -4, 6, -2, 1]
    small = [0.3, 0, 0, 0.4, 0, 0, 0, 0, 0]
    return [
        _case("one gradient of norm 5", one, theta, 1.0),
        _case("gradients below the limit", small, theta, 2.0),
        _case("gradients of all layers", mixed, theta, 2.5),
        _case("the last gradient alone is below the limit", mixed, theta, 3.0),
        _case("a limit above the norm", mixed, theta, 16.0),
        _case("a limit of one half", mixed, theta, 0.5),
        _case("no gradient at all", [0] * SIZE, theta, 1.0, edge=True),
        _case(
            "a parameter without a gradient",
            [*mixed[:_LAST], *[0] * (SIZE - _LAST)],
            theta,
            1.0,
            edge=True,
            without=True,
        ),
    ]


def _case(name: str, gradient: Any, weights: Any, limit: float, *, edge: bool = False, without: bool = False) -> Case:
    given = {"gradient": floats(gradient), "weights": floats(weights), "limit": limit, "without": without}
    return Case(name, {**given, "sizes": {"P": SIZE}}, edge=edge)


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(-8, 8).map(float), min_size=SIZE, max_size=SIZE).filter(any)
    return _case(
        "gradients drawn at random", draw(numbers), draw(numbers), draw(st.sampled_from([1.0, 0.5, 4.0, 40.0]))
    )


_NET = (
    "network net model module policy actor critic agent actor_critic q_network q_net ac nn policy_net value_net "
    "critic_net "
    "actor_net"
)
_PARAMETERS = "parameters params param weights variables vars theta p model_parameters model_params trainable_variables"
_GRADIENTS = "gradients grads grad gradient g gs grad_list flat_grad d_params deltas"
_LIMIT = (
    "clip grad_clip gradient_clip clip_grad clip_gradient max_grad threshold grad_threshold limit clipping "
    "grad_clipping max_gradient "
    "clip_val c maximum max bound value"
)

GRADIENT_CLIPPING = Oracle(
    name="gradient-clipping",
    aliases="grad-clip clip-grad clip-grad-norm clip-gradients grad-clipping gradient-clip",
    code="OPT145",
    summary="Gradient clipping: where the norm of all gradients together is above the limit, all are scaled down to "
            "it.",
    formula="g ← g · min(1, limit / ‖g‖),  ‖g‖ over all parameters",
    example="def clip_grad_norm(parameters, max_norm)",
    references="Pascanu and others, *On the difficulty of training recurrent neural networks*.",
    quantities=(
        made("network", _NET),
        made("parameters", f"{_PARAMETERS} {_NET}"),
        made("optimizer", "optimizer optim opt optimiser"),
        made("gradients", _GRADIENTS),
        made("gradient arrays", _GRADIENTS),
        Quantity("max_norm", "max_norm max_grad_norm clip_norm max_gradient_norm grad_norm norm_limit clip_grad_norm "
                             "norm grad_clip_norm "
                 f"global_norm clip_grad_max_norm gradient_clip_norm maxnorm gnorm_clip max_l2_norm {_LIMIT}", "",
                 "int",
                 of=lambda case: case["limit"], meaning="the largest norm"),
        Quantity("clip_value", f"clip_value grad_clip_value clip_grad_value max_value grad_max {_LIMIT}", "", "int",
                 of=lambda case: case["limit"], meaning="the largest value of each"),
    ),
    outputs=(Output("gradient", "gradient", "P"), Output("weights", "weights", "P")),
    required=("network|parameters|optimizer|gradients|gradient arrays", "max_norm|clip_value"),
    columns=("gradient", "limit"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    adapt=adapt,
    styles=(Style("by the global norm, or by value where so named"),),
    mistakes=(
        Mistake(
            "OPT146", "gradient-clipping-no-effect", "The gradients stay as they were.",
            knobs={"scaled": "none"},
            wrong="for p in params: g = p.grad * scale",
            right="for p in params: p.grad.mul_(scale)",
            harm="Nothing is clipped: one bad batch can destroy the network.",
            fix="write into p.grad, in place",
        ),
        Mistake(
            "OPT147", "gradient-clipping-per-parameter", "Each parameter is clipped by its own norm, not by that of "
                                                         "all.",
            knobs={"norm": "each"},
            wrong="for p in params: p.grad.mul_(min(1, limit / p.grad.norm()))",
            right="norm = torch.stack([p.grad.norm() for p in params]).norm(); scale = min(1, limit / norm)",
            harm="The direction of the gradient changes; the whole is as large as √(number of parameters) times the "
                 "limit.",
            fix="take one norm over all parameters and scale all alike",
            fine="Where it is meant: some call it per-layer clipping.",
        ),
        Mistake(
            "OPT148", "gradient-clipping-always-scales", "Gradients below the limit are scaled up to it.",
            knobs=({"when": "always"}, {"when": "always", "zero": float("nan")}),
            wrong="scale = limit / norm",
            right="scale = min(1, limit / norm)",
            harm="Every step is of the same length, however small the gradient: training does not settle.",
            fix="scale only where the norm is above the limit",
        ),
        Mistake(
            "OPT149", "gradient-clipping-norm-not-rooted", "The square root of the sum of squares is not taken.",
            knobs={"norm": "squared"},
            wrong="norm = sum((p.grad ** 2).sum() for p in params)",
            right="norm = sum((p.grad ** 2).sum() for p in params) ** 0.5",
            harm="Large gradients become far smaller than the limit: training is slow for no visible reason.",
            fix="take the square root of the sum of squares",
        ),
        Mistake(
            "OPT150", "gradient-clipping-norms-added", "The norms of the parameters are added, not their squares.",
            knobs={"norm": "added"},
            wrong="norm = sum(p.grad.norm() for p in params)",
            right="norm = sum(p.grad.norm() ** 2 for p in params) ** 0.5",
            harm="The norm is too large, the more so the more layers there are: steps are too small.",
            fix="add the squares of the norms and take the root",
        ),
        Mistake(
            "OPT151", "gradient-clipping-condition-inverted", "Gradients are scaled where the norm is below the limit.",
            knobs={"when": "below"},
            wrong="if norm < limit: p.grad.mul_(limit / norm)",
            right="if norm > limit: p.grad.mul_(limit / norm)",
            harm="Large gradients are let through, and small ones are made large.",
            fix="turn the comparison round",
        ),
        Mistake(
            "OPT152", "gradient-clipping-scale-inverted", "The factor is norm/limit: gradients above the limit grow.",
            knobs={"scale": "norm/limit"},
            wrong="p.grad.mul_(norm / limit)",
            right="p.grad.mul_(limit / norm)",
            harm="The larger a gradient, the more it is enlarged: training diverges.",
            fix="multiply by limit / norm",
        ),
        Mistake(
            "OPT153", "gradient-clipping-limit-missing", "Gradients above the limit get the norm 1, not the limit.",
            knobs={"scale": "1/norm"},
            wrong="if norm > limit: p.grad.div_(norm)",
            right="if norm > limit: p.grad.mul_(limit / norm)",
            harm="The setting has no effect but to decide when; steps jump as the norm passes the limit.",
            fix="multiply by the limit as well",
        ),
        Mistake(
            "OPT154", "gradient-clipping-by-value", "Each number is clipped by itself, where a norm is asked for.",
            knobs={"how": "value"},
            wrong="p.grad.clamp_(-max_norm, max_norm)",
            right="torch.nn.utils.clip_grad_norm_(params, max_norm)",
            harm="The direction of the gradient changes, and its norm can be far above the limit.",
            fix="scale all gradients by one factor, or call the argument clip_value",
        ),
        Mistake(
            "OPT155", "gradient-clipping-one-sided", "Only positive gradients are limited.",
            knobs=({"sides": "above"}, {"how": "value", "sides": "above"}),
            wrong="p.grad.clamp_(max=limit)",
            right="p.grad.clamp_(-limit, limit)",
            harm="Large negative gradients pass, so the weights drift one way.",
            fix="clamp on both sides",
        ),
        Mistake(
            "OPT156", "gradient-clipping-norm-of-one", "The norm is that of one parameter, not of all.",
            knobs=({"norm": "last"}, {"norm": "largest"}),
            wrong="for p in params: norm = p.grad.norm()",
            right="norm = sum(p.grad.norm() ** 2 for p in params) ** 0.5",
            harm="Whether gradients are clipped depends on one layer alone.",
            fix="add the squares over all parameters",
        ),
        Mistake(
            "OPT157", "gradient-clipping-clips-weights", "The weights are clipped, and not their gradients.",
            knobs=({"weights": True}, {"weights": True, "how": "value"}),
            wrong="p.data.clamp_(-limit, limit)",
            right="p.grad.clamp_(-limit, limit)",
            harm="The network cannot have weights above the limit, and its gradients are not limited at all.",
            fix="use p.grad",
        ),
        Mistake(
            "OPT158", "gradient-clipping-norm-averaged", "The norm is divided by the number of weights: a root mean "
                                                         "square.",
            knobs={"norm": "root-mean-square"},
            wrong="norm = torch.cat([p.grad.flatten() for p in params]).pow(2).mean().sqrt()",
            right="norm = torch.cat([p.grad.flatten() for p in params]).pow(2).sum().sqrt()",
            harm="The norm is far too small: hardly anything is ever clipped.",
            fix="take the sum of the squares, not their mean",
        ),
        Mistake(
            "OPT159", "gradient-clipping-first-only", "Only the first parameter's gradient is scaled.",
            knobs={"scaled": "first"},
            wrong="for p in params:\n    p.grad.mul_(scale)\n    return norm",
            right="for p in params:\n    p.grad.mul_(scale)\nreturn norm",
            harm="The other layers are not clipped, and the direction of the gradient changes.",
            fix="scale the gradients of all parameters",
        ),
    ),
)  # fmt: skip
