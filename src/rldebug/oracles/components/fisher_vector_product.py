"""Fisher-vector product: the Hessian of the KL divergence at the old policy, times a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal

from rldebug.oracles.material.made import SIZE, Net, flat_of, made, making, pieces
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Values, floats

_DISCRETE = ("logits network", "probability network")


def reference(case: Case) -> Values:
    """The mean of w J Jᵀ over the observations, J by hand; w is 1 for a Gaussian, p (1 − p) for two actions."""
    first, bias, second, last = pieces(case["parameters"])
    fisher = np.zeros((SIZE, SIZE))
    for x in case["observations"]:
        hidden = np.tanh(first @ x + bias)
        output = float((second @ hidden + last)[0])
        back = second[0] * (1.0 - hidden**2)
        slope = np.concatenate([np.outer(back, x).ravel(), back, hidden, [1.0]])
        p = 1.0 / (1.0 + np.exp(-output))
        weight = p * (1.0 - p) if case.given.get("discrete") else 1.0
        fisher += weight * np.outer(slope, slope) / len(case["observations"])
    return {"product": fisher @ case["vector"] + case["shift"] * case["vector"]}


def variant(
    case: Case,
    *,
    damping: str = "usual",  # usual, missing, times, plain, minus, twice
    sign: float = 1.0,
    times: str = "mean",  # mean, sum, mean again
    power: int = 1,  # how often the product is taken
    part: str = "all",  # which numbers are not 0: all, diagonal
) -> Values:
    hessian, vector, shift = _hessian(case), floats(case["vector"]), case["shift"]
    count = len(case["observations"])
    hessian = hessian * {"mean": 1.0, "sum": count, "mean again": 1.0 / count}[times]
    if part == "diagonal":
        hessian = np.diag(np.diag(hessian))
    curved = np.linalg.matrix_power(hessian, power) @ vector * sign if power else np.zeros(SIZE)
    added: Array = {
        "usual": curved + shift * vector,
        "missing": curved,
        "times": shift * curved,
        "plain": curved + shift,
        "minus": curved - shift * vector,
        "twice": curved + 2.0 * shift * vector,
        "of the product": (1.0 + shift) * curved,
    }[damping]
    return {"product": added}


_KEPT: dict[Any, Array] = {}


def _hessian(case: Case) -> Array:
    """With autograd, whole."""
    key = (case["parameters"].tobytes(), case["observations"].tobytes(), bool(case.given.get("discrete")))
    if key not in _KEPT:
        _KEPT.clear() if len(_KEPT) > 500 else None
        observations = torch.from_numpy(case["observations"])

        def kl(flat: torch.Tensor) -> torch.Tensor:
            parts, at = [], 0
            for each in pieces(np.zeros(SIZE)):
                parts.append(flat[at : at + each.size].reshape(each.shape))
                at += each.size
            hidden = torch.tanh(observations @ parts[0].T + parts[1])
            output = hidden @ parts[2].T + parts[3]
            if case.given.get("discrete"):
                return _kl(Categorical(logits=_two(output.detach())), Categorical(logits=_two(output))).mean()
            return _kl(Normal(output.detach(), 1.0), Normal(output, 1.0)).mean()

        start = torch.from_numpy(floats(case["parameters"]).copy())
        _KEPT[key] = torch.autograd.functional.hessian(kl, start).numpy()  # type: ignore[no-untyped-call]
    return _KEPT[key]


def _two(output: torch.Tensor) -> torch.Tensor:
    return torch.cat([output, torch.zeros_like(output)], dim=-1)


def _kl(old: Any, new: Any) -> torch.Tensor:
    return torch.distributions.kl_divergence(old, new)


class _Policy(nn.Module):
    """The tiny network as a policy: what it gives back depends on the kind."""

    def __init__(self, net: Net, kind: str) -> None:
        super().__init__()
        self.net, self.kind = net, kind

    def forward(self, observations: Any, *rest: Any) -> Any:
        output = self.net(torch.as_tensor(observations, dtype=torch.float32))
        if self.kind == "distribution":
            return Normal(output, 1.0)
        if self.kind == "tuple":
            return output, torch.zeros_like(output), torch.ones_like(output)
        if self.kind == "logits":
            return _two(output)
        return torch.softmax(_two(output), dim=-1) if self.kind == "probability" else output

    def get_distribution(self, observations: Any) -> Any:
        return Normal(self.net(torch.as_tensor(observations, dtype=torch.float32)), 1.0)

    distribution = get_dist = dist = pi = _distribution = get_distribution
    actor = property(lambda self: self)

    def get_kl(self, observations: Any) -> Any:  # as in Khrylx/PyTorch-RL
        output = self.net(observations)
        return (0.5 * (output.detach() - output) ** 2).sum(1, keepdim=True)


def build(case: Case) -> Mapping[str, Any]:
    net = Net(case["parameters"])
    observations = torch.from_numpy(case["observations"]).float()
    parameters = list(net.parameters())

    def kl(*rest: Any, **named: Any) -> torch.Tensor:
        output = net(observations)
        return _kl(Normal(output.detach(), 1.0), Normal(output, 1.0)).mean()

    def flat_grad(loss: Any, wrt: Any, *rest: Any, **named: Any) -> torch.Tensor:
        wrt = list(wrt.parameters()) if isinstance(wrt, nn.Module) else list(wrt)
        return torch.cat([each.reshape(-1) for each in torch.autograd.grad(loss, wrt, *rest, **named)])

    value = kl()
    things: dict[str, Any] = {
        "parameters": parameters,
        "observations": observations,
        "kl": value,
        "kl gradient": flat_grad(value, parameters, create_graph=True, retain_graph=True),
        "kl function": kl,
        "flat gradient function": flat_grad,
    }
    kinds = ("distribution", "mean", "tuple", "logits", "probability")
    return {**things, **{f"{kind} network": _Policy(net, kind) for kind in kinds}}


def read(built: Mapping[str, Any], handed: frozenset[str], returned: Any) -> Any:
    answer = None if callable(returned) else flat_of(returned)
    return {"product": answer} if answer is not None and answer.size == SIZE else returned


def told(case: Case, bound: frozenset[str]) -> Case:
    """Without damping there is none, unless the function has a number of its own."""
    discrete = bool(set(_DISCRETE) & bound)
    if "damping" not in bound:
        return case.but(shift=case.given.get("damping", 0.0), discrete=discrete)
    return case.but(discrete=discrete)


def adapt(target: Any) -> Any:
    return making(target, build, read, FISHER_VECTOR_PRODUCT)


def cases() -> list[Case]:
    theta = [0.5, -1, 1, 0.25, 0, 0.5, 1, -2, 0.5]
    return [
        _case("one observation", theta, [[1, 2]], [1, 0, 0, 0, 0, 0, 0, 0, 1], 0.5, edge=True),
        _case("two observations", theta, [[1, 0], [0, 1]], [1, -1, 2, 0, 1, 0, 0, 1, -1], 0.5),
        _case("three observations", theta, [[1, 0], [-1, 1], [0.5, 2]], [0, 1, 2, -1, 1, 3, -2, 1, 1], 0.1),
    ]


def _case(name: str, parameters: Any, observations: Any, vector: Any, damping: float, *, edge: bool = False) -> Case:
    given = {"parameters": floats(parameters), "observations": floats(observations), "vector": floats(vector)}
    return Case(name, {**given, "shift": damping, "sizes": {"P": SIZE, "N": len(observations)}}, edge=edge)


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    halves = st.integers(-4, 4).map(lambda n: n / 2)
    numbers = st.lists(halves, min_size=SIZE, max_size=SIZE)
    rows = draw(st.lists(st.tuples(halves, halves).map(list), min_size=2, max_size=3))
    damping = draw(st.sampled_from([0.5, 0.1, 0.01]))
    return _case("drawn at random", draw(numbers), rows, draw(numbers), damping)


_POLICY = "policy actor model net network pi policy_net actor_net agent module actor_critic ac nn"

FISHER_VECTOR_PRODUCT = Oracle(
    name="fisher-vector-product",
    aliases="fvp hvp hessian-vector-product fisher",
    code="OPT115",
    summary="Fisher-vector product: the Hessian of the mean KL at the old policy times v, plus damping times v.",
    formula="F v + damping · v,  F = ∇² mean KL(π_old ‖ π_θ) at θ = θ_old",
    example="def fisher_vector_product(get_kl, params, v, damping)",
    references="Schulman and others, *Trust region policy optimization*, appendix C.",
    quantities=(
        made("distribution network", _POLICY),
        made("mean network", _POLICY),
        made("tuple network", _POLICY),
        made("logits network", _POLICY),
        made("probability network", _POLICY),
        made("parameters", "params parameters theta weights policy_params actor_params param model_params variables "
                           "actor_parameters "
             "policy_parameters inputs wrt"),
        made("observations", "obs observations states state s observation ob batch_obs x inputs"),
        made("kl", "kl mean_kl kl_div kl_divergence d_kl kl_loss loss f kl_d dkl average_kl kl_mean constraint output "
                   "fn y"),
        made("kl gradient", "grad_kl flat_grad_kl flat_kl_grad kl_grad kl_gradient flat_grad kl_grads g grads grad "
                            "gradient grad_vector "
             "kl_gradient_vector gradients flat_grads grad_kl_flat dkl_grad"),
        made("kl function", "get_kl kl_fn kl_func compute_kl kl_function f func closure mean_kl_fn calc_kl kl "
                            "get_mean_kl fn kl_f kl_closure "
             "constraint_fn mean_kl"),
        made("flat gradient function", "get_flat_grad flat_grad flatgrad flat_gradient_fn get_flat_gradient "
                                       "flat_gradients"),
        Quantity("vector", "v vector vec x p direction b tangent d y search_direction grad_vec z step vect u", "P"),
        Quantity("damping", "damping cg_damping damping_coeff damping_coef damping_factor reg reg_coeff fvp_damping "
                            "hvp_damping lambd eps "
                 "damp alpha fisher_damping hvp_reg_coeff regularization lam", "", of=lambda case: case["shift"]),
    ),
    outputs=(Output("product", "product hvp fvp hv fv result", "P"),),
    required=("vector",),
    columns=("vector", "shift"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    adapt=adapt,
    tolerance=1e-3,
    layouts=("as is",),
    mistakes=(
        Mistake(
            "OPT116", "fisher-vector-product-damping-missing", "The damping is not added.",
            knobs={"damping": "missing"},
            wrong="return flat_grad(kl_v)",
            right="return flat_grad(kl_v) + damping * v",
            harm="The Fisher matrix is singular: conjugate gradients gives a huge step or NaN.",
            fix="add damping · v",
        ),
        Mistake(
            "OPT117", "fisher-vector-product-damping-without-v", "The damping is added as a number, not times v.",
            knobs={"damping": "plain"},
            wrong="return hv + damping",
            right="return hv + damping * v",
            harm="It is no longer a linear map: conjugate gradients solves nothing.",
            fix="multiply the damping by v",
        ),
        Mistake(
            "OPT118", "fisher-vector-product-damping-times", "The product is multiplied by the damping.",
            knobs=({"damping": "times"}, {"damping": "of the product"}),
            wrong="return damping * hv",
            right="return hv + damping * v",
            harm="The matrix is still singular, and the step has another length.",
            fix="add damping · v",
        ),
        Mistake(
            "OPT119", "fisher-vector-product-damping-subtracted", "The damping is subtracted.",
            knobs={"damping": "minus"},
            wrong="return hv - damping * v",
            right="return hv + damping * v",
            harm="The matrix is not positive: conjugate gradients may go uphill.",
            fix="add damping · v",
        ),
        Mistake(
            "OPT120", "fisher-vector-product-damping-twice", "The damping is added twice.",
            knobs={"damping": "twice"},
            wrong="hv = flat_grad(kl_v) + damping * v; return hv + damping * v",
            right="return flat_grad(kl_v) + damping * v",
            harm="Steps are shorter than the setting says.",
            fix="add it once, here or where it is called",
        ),
        Mistake(
            "OPT121", "fisher-vector-product-curvature-lost", "There is no curvature in it: only the damping is left.",
            knobs={"power": 0},
            wrong="g = torch.autograd.grad(kl, params); return flat(g) * v + damping * v",
            right="g = torch.autograd.grad(kl, params, create_graph=True); return flat(torch.autograd.grad(flat(g) @ "
                  "v, params)) + damping * v",
            harm="At the old policy the gradient of the KL is 0: the step is the plain gradient, far too long.",
            fix="differentiate twice: the gradient of (∇KL · v), with create_graph=True",
        ),
        Mistake(
            "OPT122", "fisher-vector-product-sign", "The product has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="kl_v = -(flat_grad_kl * v).sum()",
            right="kl_v = (flat_grad_kl * v).sum()",
            harm="The matrix is negative: conjugate gradients gives a step that makes the policy worse, or NaN.",
            fix="leave the minus out",
        ),
        Mistake(
            "OPT123", "fisher-vector-product-summed", "The KL is summed over the observations, not averaged.",
            knobs={"times": "sum"},
            wrong="kl = kl_divergence(old, new).sum()",
            right="kl = kl_divergence(old, new).mean()",
            harm="Steps get shorter the larger the batch is, and the damping has next to no effect.",
            fix="take the mean over the observations",
        ),
        Mistake(
            "OPT124", "fisher-vector-product-averaged-twice", "It is divided by the number of observations twice.",
            knobs={"times": "mean again"},
            wrong="return flat_grad(kl.mean()) / len(obs)",
            right="return flat_grad(kl.mean())",
            harm="Steps get longer the larger the batch is.",
            fix="divide once",
        ),
        Mistake(
            "OPT125", "fisher-vector-product-applied-twice", "The matrix is multiplied in twice.",
            knobs={"power": 2},
            wrong="hv = hvp(v); return hvp(hv) + damping * v",
            right="hv = hvp(v); return hv + damping * v",
            harm="The step is not the natural gradient.",
            fix="multiply once",
        ),
        Mistake(
            "OPT126", "fisher-vector-product-diagonal", "Only the diagonal of the matrix is used.",
            knobs={"part": "diagonal"},
            wrong="return diagonal * v + damping * v",
            right="return fisher @ v + damping * v",
            harm="Parameters that act together are moved as if each acted alone.",
            fix="multiply by the whole matrix",
            fine="Where a diagonal approximation is meant.",
        ),
    ),
)  # fmt: skip
