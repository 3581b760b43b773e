"""Log-probability of an action: Gaussian, squashed by tanh, scaled, or one of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug.oracles.material.distributions import as_function
from rldebug.oracles.material.taken import QUANTITIES, gaussian, squashed_action
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Style, Values, floats


def reference(case: Case) -> Values:
    rows = []
    for n in range(len(case["mean"])):
        if case["kind"] == "categorical":
            weights = np.exp(case["logits"][n])
            rows.append(float(np.log(weights[case["choice"][n]] / weights.sum())))
            continue
        total = 0.0
        for mean, log_std, u in zip(case["mean"][n], case["log_std"][n], case["u"][n], strict=True):
            std = float(np.exp(log_std))
            density = np.exp(-((u - mean) ** 2) / (2.0 * std**2)) / (std * np.sqrt(2.0 * np.pi))
            if case["kind"] == "squashed":  # the action changes by so much where u changes by 1
                density /= case["scale"] * (1.0 - np.tanh(u) ** 2)
            total += float(np.log(density))
        rows.append(total)
    return {"log_prob": floats(rows)}


def variant(
    case: Case,
    *,
    unscaled: bool = False,  # style: of the action before it is scaled, where that is what is given
    negative: bool = False,  # style: negative log-likelihood
    sign: float = 1.0,
    det: float = 1.0,  # of the log-determinant: 1, 0, −1
    det_of: str = "tanh",  # tanh, twice, scaled, not squared, u
    dims: str = "sum",  # sum, mean, none
    det_dims: str = "sum",  # sum, mean
    of: str = "u",  # what the Gaussian is asked about: u, action, clipped
    log_scale: str = "right",  # right, missing, added, once
    centre: str = "mean",  # mean, zero, tanh
    spread: str = "right",  # right, squared, root, log
    below: int = 2,  # the power of σ that the squared distance is divided by
    log_std_term: float = 1.0,
    constant: float = 1.0,
    half: float = 0.5,
    read: str = "right",  # right, raw, probability, probabilities
) -> Values:
    if case["kind"] == "categorical":
        rows = _categorical(case["logits"], case["choice"], read)
    else:
        squashed = case["kind"] == "squashed"
        log_scale = "missing" if unscaled and not case.given.get("scaled_given", False) else log_scale
        density = gaussian(case, of, centre, spread, log_std_term, constant, half, below)
        change = det * _det(case, det_of, log_scale) if squashed and det else np.zeros_like(density)
        if dims == "none":
            rows = density - change
        else:
            rows = density.sum(-1) if dims == "sum" else density.mean(-1)
            rows = rows - (change.mean(-1) if "mean" in (dims, det_dims) else change.sum(-1))
            rows = rows - (np.log(case["scale"]) if squashed and log_scale == "once" else 0.0)
    return {"log_prob": rows * sign * (-1.0 if negative else 1.0)}


def _det(case: Case, det_of: str, log_scale: str) -> Array:
    squashed = np.tanh(case["u"])
    with np.errstate(divide="ignore", invalid="ignore"):
        ways: dict[str, Callable[[], Array]] = {
            "tanh": lambda: np.log(1.0 - squashed**2),
            "twice": lambda: np.log(1.0 - np.tanh(squashed) ** 2),
            "scaled": lambda: np.log(1.0 - squashed_action(case) ** 2),
            "not squared": lambda: np.log(1.0 - squashed),
            "u": lambda: np.log(1.0 - case["u"] ** 2),
        }
        change = ways[det_of]()
    weight = {"right": 1.0, "missing": 0.0, "added": -1.0, "once": 0.0}[log_scale]
    return np.asarray(change + weight * np.log(case["scale"]))


def _categorical(logits: Array, choice: Array, read: str) -> Array:
    weights = logits if read == "probabilities" else np.exp(logits)
    probs = weights / weights.sum(-1, keepdims=True)
    table = logits if read == "raw" else probs if read == "probability" else np.log(probs)
    return np.asarray(table[np.arange(len(choice)), choice])


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _case(name: str, kind: str, u: Any = None, *, scale: float = 1.0, bias: float = 0.0, **more: Any) -> Case:
    rows = len(u) if u is not None else len(more["logits"])
    values = floats(u) if u is not None else np.zeros((rows, 2))
    wide = values.shape[1]
    shape = (rows, wide)
    given: dict[str, Any] = {
        "kind": kind,
        "u": values,
        "mean": np.resize([0.25, -0.5, 0.75, 0.5, -0.25], shape),
        "log_std": np.resize([0.5, 0.25, 0.75], shape),
        "scale": scale,
        "bias": bias,
        "low": bias - scale,
        "high": bias + scale,
        "logits": np.tile([0.5, 1.0, 2.0], (rows, 1)),
        "choice": np.arange(rows) % 3,
    }
    return Case(name, {**given, **{key: np.asarray(value) for key, value in more.items()}})


def cases() -> list[Case]:
    three = [[0.5, 1.0, 2.0], [3.0, 0.25, 0.5], [1.0, 1.5, 0.75], [2.0, 0.5, 1.0]]
    return [
        _case("one action of one dimension", "gaussian", [[0.5]]),
        _case("one action of two dimensions", "gaussian", [[0.5, -1.5]]),
        _case("two actions of two dimensions, beyond the bounds", "gaussian", [[0.5, -1.5], [1.75, 0.25]]),
        _case("four actions of three dimensions", "gaussian",
              [[0.5, -1.5, 0.25], [1.75, 0.25, -0.5], [-0.25, 0.75, 1.25], [0.5, 2.0, -1.0]]),
        _case("one squashed action of one dimension", "squashed", [[0.5]]),
        _case("one squashed action of two dimensions", "squashed", [[0.5, -1.25]]),
        _case("four squashed actions of three dimensions", "squashed",
              [[0.5, -1.25, 0.25], [1.0, 0.25, -0.5], [-0.25, 0.75, 1.25], [0.5, 1.5, -1.0]]),
        _case("one squashed action of two dimensions, scaled to ±0.5", "squashed", [[0.5, -1.25]], scale=0.5),
        _case("two squashed actions of two dimensions, scaled to ±2", "squashed", [[0.5, -1.25], [0.25, 1.0]],
              scale=2.0),
        _case("two squashed actions of two dimensions, scaled to −1 … 3", "squashed", [[0.5, -1.25], [0.25, 1.0]],
              scale=2.0, bias=1.0),
        _case("two choices among three", "categorical", logits=three[:2], choice=[2, 1]),
        _case("four choices among three", "categorical", logits=three, choice=[2, 1, 0, 0]),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    """Good for any kind: which one it is, the arguments of the function tell."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    rows = draw(st.integers(2, 4))
    u = draw(arrays.arrays(np.int64, (rows, draw(st.integers(1, 3))), elements=st.integers(-5, 5))) / 4.0
    logits = np.resize(np.abs(u) + 0.25, (rows, 3))
    kind = draw(st.sampled_from(["gaussian", "squashed", "categorical"]))
    scale = draw(st.sampled_from([1.0, 2.0]))
    choice = [draw(st.integers(0, 2)) for _ in range(rows)]
    return _case("drawn at random", kind, u, scale=scale, logits=logits, choice=choice).but(any=True)


_SCALE = {"scale", "scale_dims"}


def told(case: Case, bound: frozenset[str]) -> Case:
    kind = "categorical" if "choice" in bound else "squashed" if bound & {"action", "u"} else "gaussian"
    scale = case["scale"] if kind != "gaussian" and (bound & _SCALE or {"low", "high"} <= bound) else 1.0
    given = {"kind": kind, "scale": scale, "low": -scale, "high": scale} if case.given.get("any", False) else {}
    return case.but(scaled_given="action" in bound and "u" not in bound, **given)


def fair(case: Case, bound: frozenset[str]) -> bool:
    case = told(case, bound)
    squashed, discrete = bound & {"action", "u"}, "choice" in bound
    if case["kind"] == "categorical":
        return discrete and bool(bound & {"logits", "probs", "log_probs", "categorical"})
    if discrete or (bound & {"normal"} and len(case["mean"]) == 1):
        return False
    known = bound & {"normal", "gaussian_logp", "gaussian_logps"} or (
        "mean" in bound and bound & {"log_std", "std", "var"}
    )
    if not known or bool(squashed) != (case["kind"] == "squashed") or ("plain_action" in bound) == bool(squashed):
        return False
    if case["kind"] == "gaussian":
        return not bound & {"gaussian_logp", "gaussian_logps"}
    if case["scale"] != 1.0 and not (bound & _SCALE or {"low", "high"} <= bound):
        return False
    return case["bias"] == 0.0 or "bias" in bound or {"low", "high"} <= bound or "action" not in bound


LOG_PROB = Oracle(
    name="log-prob",
    aliases="logp log-probability squashed-log-prob tanh-log-prob action-log-prob gaussian-log-prob log-probs",
    code="ACT100",
    summary="Log-probability of an action: of a Gaussian, of one squashed by tanh and scaled, or of one among several.",
    formula="log π(a) = Σ_d log N(u_d; μ_d, σ_d) − Σ_d log(scale (1 − tanh(u_d)²)),  a = scale tanh(u)",
    example="def log_prob(mean, log_std, pre_tanh_action)",
    references="Haarnoja and others, *Soft actor-critic*, appendix C.",
    quantities=QUANTITIES,
    outputs=(Output("log_prob", "log_prob logp log_probs log_pi logprob logp_pi log_prob_pi nll", "N"),),
    required=("plain_action|action|u|choice",),
    columns=("mean", "log_std", "u", "logits", "choice"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    adapt=lambda target: as_function(target, "log_prob"),
    styles=(
        Style("usual"),
        Style("of the action before it is scaled: log(scale) left out", {"unscaled": True}),
        Style("negative log-likelihood", {"negative": True}, when="neg nll loss likelihood"),
    ),
    mistakes=(
        Mistake(
            "ACT101", "log-prob-log-det-missing", "The correction for tanh is missing.",
            knobs={"det": 0.0},
            wrong="logp = Normal(mean, std).log_prob(u).sum(-1)",
            right="logp = (Normal(mean, std).log_prob(u) - torch.log(1 - torch.tanh(u) ** 2 + 1e-6)).sum(-1)",
            harm="Nothing holds the policy back at the bounds: actions saturate, and the entropy is wrong.",
            fix="subtract log(1 − tanh(u)²) for every dimension",
            seen_in="automl/Mighty#117",
        ),
        Mistake(
            "ACT102", "log-prob-log-det-sign-flipped", "The correction for tanh is added, not subtracted.",
            knobs={"det": -1.0},
            wrong="logp = Normal(mean, std).log_prob(u).sum(-1) + torch.log(1 - a**2 + 1e-6).sum(-1)",
            right="logp = Normal(mean, std).log_prob(u).sum(-1) - torch.log(1 - a**2 + 1e-6).sum(-1)",
            harm="Saturated actions look improbable, so an entropy bonus pushes actions to the bounds.",
            fix="subtract it",
        ),
        Mistake(
            "ACT103", "log-prob-tanh-twice", "tanh is applied twice in the correction.",
            knobs={"det_of": "twice"},
            wrong="a = torch.tanh(u); logp -= torch.log(1 - torch.tanh(a) ** 2 + 1e-6).sum(-1)",
            right="a = torch.tanh(u); logp -= torch.log(1 - a**2 + 1e-6).sum(-1)",
            harm="The correction is too small, and the entropy that is tuned is another.",
            fix="use the squashed action as it is",
            seen_in="boyu-ai/Hands-on-RL#121",
        ),
        Mistake(
            "ACT104", "log-prob-scaled-action-in-log-det", "The scaled action is used in the correction.",
            knobs=({"det_of": "scaled"}, {"det_of": "scaled", "log_scale": "missing"}),
            wrong="a = torch.tanh(u) * scale; logp -= torch.log(1 - a**2 + 1e-6).sum(-1)",
            right="y = torch.tanh(u); logp -= torch.log(scale * (1 - y**2) + 1e-6).sum(-1)",
            harm="NaN where the scale is above 1: the logarithm of a negative number.",
            fix="use tanh(u) before it is scaled",
            seen_in="philtabor/Actor-Critic-Methods-Paper-To-Code#7",
        ),
        Mistake(
            "ACT105", "log-prob-log-det-wrong", "The correction is not log(1 − tanh(u)²).",
            knobs=({"det_of": "not squared"}, {"det_of": "u"}),
            wrong="logp -= torch.log(1 - torch.tanh(u) + 1e-6).sum(-1)",
            right="logp -= torch.log(1 - torch.tanh(u) ** 2 + 1e-6).sum(-1)",
            harm="The density is that of another distribution, and NaN for some actions.",
            fix="square tanh(u)",
        ),
        Mistake(
            "ACT106", "log-prob-of-squashed-value", "The Gaussian is asked about the squashed action.",
            knobs=({"of": "action"}, {"of": "action", "det": 0.0}),
            wrong="logp = Normal(mean, std).log_prob(torch.tanh(u)).sum(-1)",
            right="logp = Normal(mean, std).log_prob(u).sum(-1)",
            harm="The log-probability is that of another action.",
            fix="ask it about the value before tanh; from an action, take atanh first",
        ),
        Mistake(
            "ACT107", "log-prob-of-clipped-action", "The action is clipped before its log-probability is taken.",
            knobs={"of": "clipped"},
            wrong="a = a.clamp(low, high); logp = dist.log_prob(a)",
            right="logp = dist.log_prob(a); env.step(a.clamp(low, high))",
            harm="Clipped actions have the log-probability of another action: the ratio is not 1 where it should be.",
            fix="take the log-probability of the sample, and clip only what the environment is given",
            seen_in="ray-project/ray#8889, thu-ml/tianshou#312",
        ),
        Mistake(
            "ACT108", "log-prob-not-summed", "The log-probability is not summed over the action's dimensions.",
            knobs={"dims": "none"},
            wrong="logp = Normal(mean, std).log_prob(a)",
            right="logp = Normal(mean, std).log_prob(a).sum(-1)",
            harm="Ratios are taken for each dimension, and (N, D) is broadcast against (N,) or (N, 1).",
            fix="sum over the last axis",
            seen_in="thu-ml/tianshou#40",
        ),
        Mistake(
            "ACT109", "log-prob-averaged", "The log-probability is averaged over the action's dimensions.",
            knobs=({"dims": "mean"}, {"det_dims": "mean"}),
            wrong="logp = Normal(mean, std).log_prob(a).mean(-1)",
            right="logp = Normal(mean, std).log_prob(a).sum(-1)",
            harm="Ratios are nearer to 1 the more dimensions an action has.",
            fix="sum over the last axis",
        ),
        Mistake(
            "ACT110", "log-prob-scale-missing", "The scale is taken out of the action, but not of the density.",
            knobs={"log_scale": "missing"},
            wrong="u = atanh(a / scale); logp = (dist.log_prob(u) - log(1 - tanh(u) ** 2)).sum(-1)",
            right="u = atanh(a / scale); logp = (dist.log_prob(u) - log(scale * (1 - tanh(u) ** 2))).sum(-1)",
            harm="The entropy is off by a constant, so the temperature is tuned to another level.",
            fix="subtract log(scale) for every dimension",
            fine="Where all log-probabilities are meant to be those of actions in −1 … 1.",
        ),
        Mistake(
            "ACT111", "log-prob-scale-wrong", "log(scale) is added, or subtracted once for all dimensions.",
            knobs=({"log_scale": "added"}, {"log_scale": "once"}),
            wrong="logp = logp + torch.log(scale).sum(-1)",
            right="logp = logp - torch.log(scale).sum(-1)",
            harm="The entropy is off by a constant, so the temperature is tuned to another level.",
            fix="subtract log(scale) for every dimension",
        ),
        Mistake(
            "ACT112", "log-prob-std-and-variance-confused", "Standard deviation and variance are confused.",
            knobs=({"spread": "squared"}, {"spread": "root"}, {"below": 1}),
            wrong="logp = Normal(mean, std**2).log_prob(a).sum(-1)",
            right="logp = Normal(mean, std).log_prob(a).sum(-1)",
            harm="It is the density of a distribution nobody samples from.",
            fix="pass the standard deviation; a covariance matrix holds its square",
        ),
        Mistake(
            "ACT113", "log-prob-log-std-as-std", "log σ is taken for σ.",
            knobs={"spread": "log"},
            wrong="logp = Normal(mean, log_std).log_prob(a).sum(-1)",
            right="logp = Normal(mean, log_std.exp()).log_prob(a).sum(-1)",
            harm="It is the density of another distribution, or an exception where log σ is negative.",
            fix="take the exp of log σ",
        ),
        Mistake(
            "ACT114", "log-prob-mean-ignored", "The action is not taken relative to the mean.",
            knobs=({"centre": "zero"}, {"centre": "tanh"}),
            wrong="logp = Normal(torch.tanh(mean), std).log_prob(u).sum(-1)",
            right="logp = Normal(mean, std).log_prob(u).sum(-1)",
            harm="The policy is pushed away from the mean that it acts by.",
            fix="subtract the mean that the action was sampled around",
            seen_in="thu-ml/tianshou#98",
        ),
        Mistake(
            "ACT115", "log-prob-spread-term-wrong", "log σ is missing, or has the wrong sign.",
            knobs=({"log_std_term": 0.0}, {"log_std_term": -1.0}),
            wrong="logp = (-0.5 * ((a - mean) / std) ** 2 - 0.5 * math.log(2 * math.pi)).sum(-1)",
            right="logp = (-0.5 * ((a - mean) / std) ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)",
            harm="σ grows without end, since nothing is paid for it.",
            fix="subtract log σ for every dimension",
        ),
        Mistake(
            "ACT116", "log-prob-constant-wrong", "½ log(2π) is missing or not halved.",
            knobs=({"constant": 0.0}, {"constant": 2.0}),
            wrong="logp = (-0.5 * ((a - mean) / std) ** 2 - log_std).sum(-1)",
            right="logp = (-0.5 * ((a - mean) / std) ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)",
            harm="The entropy is off by a constant; ratios are right.",
            fix="subtract ½ log(2π) for every dimension",
        ),
        Mistake(
            "ACT117", "log-prob-square-not-halved", "The squared distance is not halved.",
            knobs={"half": 1.0},
            wrong="logp = -((a - mean) / std) ** 2 - log_std - 0.5 * math.log(2 * math.pi)",
            right="logp = -0.5 * ((a - mean) / std) ** 2 - log_std - 0.5 * math.log(2 * math.pi)",
            harm="It is no density: σ is learned too large.",
            fix="multiply the square by ½",
        ),
        Mistake(
            "ACT118", "log-prob-sign-flipped", "It is the negative log-probability.",
            knobs={"sign": -1.0},
            wrong="logp = F.cross_entropy(logits, actions, reduction='none')",
            right="logp = -F.cross_entropy(logits, actions, reduction='none')",
            harm="Good actions are made less likely.",
            fix="negate it",
            fine="Where it is meant as a negative log-likelihood: call it nll.",
        ),
        Mistake(
            "ACT119", "log-prob-logits-not-normalised", "The logit of the action is returned.",
            knobs={"read": "raw"},
            wrong="logp = logits.gather(1, actions[:, None])",
            right="logp = logits.log_softmax(-1).gather(1, actions[:, None])",
            harm="Making an action likelier does not make the others less likely.",
            fix="apply log_softmax first",
        ),
        Mistake(
            "ACT120", "log-prob-without-log", "The probability is returned, not its log.",
            knobs={"read": "probability"},
            wrong="logp = probs.gather(1, actions[:, None])",
            right="logp = probs.log().gather(1, actions[:, None])",
            harm="Differences of it are no log-ratios, and its gradient is small for rare actions.",
            fix="take the logarithm",
            seen_in="pytorch/rl#1750",
        ),
        Mistake(
            "ACT121", "log-prob-logits-as-probabilities", "Logits are taken for probabilities.",
            knobs={"read": "probabilities"},
            wrong="logp = Categorical(logits).log_prob(actions)",
            right="logp = Categorical(logits=logits).log_prob(actions)",
            harm="It is another distribution, or an exception where a logit is negative.",
            fix="pass logits by name",
            seen_in="thu-ml/tianshou#1193",
        ),
    ),
)  # fmt: skip
