"""Entropy of a policy: categorical, with a mask or without, diagonal Gaussian, or estimated from samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug.oracles.material.distributions import as_function
from rldebug.oracles.material.spread import QUANTITIES
from rldebug.oracles.material.taken import HALF_LOG_2PI
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Style, Values, flags, floats

CONSTANT = 0.5 + HALF_LOG_2PI  # of one dimension with σ = 1


def reference(case: Case) -> Values:
    rows = []
    for n in range(len(case["logits"])):
        if case["kind"] == "samples":
            rows.append(-float(case["logp"][n]))
        elif case["kind"] == "gaussian":
            rows.append(sum(0.5 * float(np.log(2.0 * np.pi * np.e * np.exp(s) ** 2)) for s in case["log_std"][n]))
        else:
            legal = [float(each) for each, may in zip(case["logits"][n], case["mask"][n], strict=True) if may]
            total = sum(np.exp(each) for each in legal)
            rows.append(-sum(np.exp(each) / total * np.log(np.exp(each) / total) for each in legal))
    return {"entropy": floats(rows)}


def variant(
    case: Case,
    *,
    reduce: str = "none",  # style: none, mean
    negative: bool = False,  # style: as a loss
    sign: float = 1.0,
    base: float = 0.0,  # of the logarithm; 0: natural
    dims: str = "sum",  # over the dimensions of the action: sum, mean, none
    read: str = "right",  # what it takes the parameters for: right, probabilities, unscaled, softmax twice, over batch
    weighted: str = "p",  # what the logs are weighed by: p, nothing, mean (averaged over the actions)
    constant: float = CONSTANT,
    once: bool = False,  # the constant is added once, not for every dimension
    scale: str = "right",  # right, halved, doubled, log of log, exp
    masked: str = "right",  # right, ignored, unscaled, zero, nan
    batch: str = "rows",  # rows, sum, mean policy
    twice: bool = False,  # samples weighed by their probability
) -> Values:
    if case["kind"] == "samples":
        rows = -case["logp"] * (np.exp(case["logp"]) if twice else 1.0)
    elif case["kind"] == "gaussian":
        rows = _gaussian(case["log_std"], dims, constant, once, scale)
    else:
        rows = _categorical(case["logits"], case["mask"], read, weighted, masked, averaged=batch == "mean policy")
    rows = rows * sign * (-1.0 if negative else 1.0) / (np.log(base) if base else 1.0)
    if batch == "sum":
        return {"entropy": rows.sum(0)}
    return {"entropy": np.asarray(rows.mean() if reduce == "mean" else rows)}


def _gaussian(log_std: Array, dims: str, constant: float, once: bool, scale: str) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        ways: dict[str, Callable[[], Array]] = {
            "right": lambda: log_std,
            "halved": lambda: 0.5 * log_std,
            "doubled": lambda: 2.0 * log_std,
            "log of log": lambda: np.log(log_std),
            "exp": lambda: np.exp(log_std),
        }
        spread = ways[scale]()
    each = spread + (0.0 if once else constant)
    if dims == "none":
        return np.asarray(each)
    return np.asarray((each.sum(-1) if dims == "sum" else each.mean(-1)) + (constant if once else 0.0))


def _categorical(logits: Array, mask: Array, read: str, weighted: str, masked: str, averaged: bool) -> Array:
    logits = np.where(mask, logits, 0.0) if masked == "zero" else logits
    counted = np.ones_like(mask) if masked in ("ignored", "unscaled", "zero") else mask
    ways: dict[str, Callable[[], Array]] = {
        "right": lambda: np.exp(logits),
        "over batch": lambda: np.exp(logits),
        "probabilities": lambda: logits,
        "unscaled": lambda: logits,
        "softmax twice": lambda: np.exp(np.exp(logits) * counted / (np.exp(logits) * counted).sum(-1, keepdims=True)),
    }
    weights = np.where(counted, ways[read](), 0.0)
    total = weights.sum(0 if read == "over batch" else -1, keepdims=True)
    probs = weights if read == "unscaled" else weights / np.where(total == 0.0, 1.0, total)
    if averaged:
        probs = np.broadcast_to(probs.mean(0), probs.shape)
    if masked == "unscaled":
        probs = np.where(mask, probs, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(probs > 0.0, np.log(np.where(probs > 0.0, probs, 1.0)), 0.0)
        logs = np.where(probs < 0.0, np.nan, logs)
    terms = -(probs * logs if weighted in ("p", "mean") else logs)
    rows = terms.mean(-1) if weighted == "mean" else terms.sum(-1)
    return np.where(mask.all(-1), rows, np.nan) if masked == "nan" else np.asarray(rows)


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _case(name: str, kind: str, rows: Any, *, mask: Any = None) -> Case:
    """Rows are probabilities up to a factor, standard deviations up to exp, or log-probabilities of samples."""
    given = floats(rows)
    count = len(given)
    logits = given if kind == "categorical" else np.tile([0.5, 1.0, 2.0], (count, 1))
    return Case(
        name,
        {
            "kind": kind,
            "logits": logits,
            "mask": np.ones(logits.shape, dtype=bool) if mask is None else flags(mask),
            "log_std": given if kind == "gaussian" else np.tile([0.5, 0.25], (count, 1)),
            "mean": np.tile([1.0, -2.0, 0.5][: given.shape[-1] if kind == "gaussian" else 2], (count, 1)),
            "logp": given if kind == "samples" else np.full(count, -1.0),
        },
    )


def cases() -> list[Case]:
    return [
        _case("one state, two actions", "categorical", [[0.5, 2.0]]),
        _case("one state, three actions, all alike", "categorical", [[0.5, 0.5, 0.5]]),
        _case("two states, three actions", "categorical", [[0.5, 1.0, 2.0], [3.0, 0.25, 0.5]]),
        _case("four states, three actions", "categorical",
              [[0.5, 1.0, 2.0], [3.0, 0.25, 0.5], [1.0, 1.5, 1.0], [0.25, 2.5, 1.5]]),
        _case("one state, one of three actions not allowed", "categorical", [[0.5, 1.0, 2.0]], mask=[[1, 1, 0]]),
        _case("two states, one action allowed in the first", "categorical", [[0.5, 1.0, 2.0], [3.0, 0.25, 0.5]],
              mask=[[0, 1, 0], [1, 0, 1]]),
        _case("one state, one dimension", "gaussian", [[0.5]]),
        _case("one state, two dimensions", "gaussian", [[0.5, 0.25]]),
        _case("two states, two dimensions, alike", "gaussian", [[0.5, 0.25], [0.5, 0.25]]),
        _case("four states, three dimensions", "gaussian",
              [[0.5, 0.25, 0.75], [0.125, 0.25, 0.5], [0.75, 0.75, 0.25], [0.25, 0.5, 0.125]]),
        _case("two samples", "samples", [-0.5, -2.0]),
        _case("four samples", "samples", [-0.5, -2.0, 0.75, -1.0]),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    """Good for any kind: which one it is, the arguments of the function tell."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    shape = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    rows = draw(arrays.arrays(np.int64, shape, elements=st.integers(1, 7))) / 4.0
    kind = draw(st.sampled_from(list(_OF)))
    made = _case("drawn at random", "categorical", rows)
    return made.but(kind=kind, log_std=rows, mean=np.zeros_like(rows), logp=-rows[:, 0], any=True)


_OF = {
    "categorical": {"logits", "probs", "log_probs", "categorical"},
    "gaussian": {"log_std", "std", "var", "cov", "normal", "shared_log_std", "shared_std"},
    "samples": {"logp"},
}


def told(case: Case, bound: frozenset[str]) -> Case:
    kind = next((kind for kind, names in _OF.items() if bound & names), None)
    return case.but(kind=kind) if case.given.get("any", False) and kind is not None else case


def fair(case: Case, bound: frozenset[str]) -> bool:
    kind = told(case, bound)["kind"]
    if not bound & _OF[kind] or (bound & _OF["categorical"] and kind != "categorical"):
        return False
    if bound & {"categorical", "normal"} and len(case["logits"]) == 1:
        return False  # objects come with an axis of states, whatever the layout
    if not case["mask"].all() and not bound & {"mask", "forbidden"}:
        return False
    return not bound & {"shared_log_std", "shared_std"} or bool((case["log_std"] == case["log_std"][:1]).all())


ENTROPY = Oracle(
    name="entropy",
    aliases="policy-entropy categorical-entropy gaussian-entropy masked-entropy",
    code="ENT100",
    summary="Entropy of a policy: categorical with or without a mask, diagonal Gaussian, or estimated from samples.",
    formula="H = −Σ_a p_a log p_a;  Gaussian: H = Σ_d (½ log(2πe) + log σ_d);  from samples: H ≈ −mean(log π)",
    example="def entropy(logits)",
    references="Cover and Thomas, *Elements of information theory*.",
    quantities=QUANTITIES,
    outputs=(Output("entropy", "entropy entropies ent h entropy_loss dist_entropy", "N"),),
    required=("logits|probs|log_probs|log_std|std|var|cov|logp|categorical|normal|shared_log_std|shared_std",),
    columns=("logits", "mask", "log_std", "logp"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    adapt=lambda target: as_function(target, "entropy"),
    styles=(
        Style("usual"),
        Style("mean over the batch", {"reduce": "mean"}),
        Style("negative, as a loss", {"negative": True}, when="loss neg penalty"),
        Style("negative mean, as a loss", {"negative": True, "reduce": "mean"}, when="loss neg penalty"),
    ),
    mistakes=(
        Mistake(
            "ENT101", "entropy-sign-flipped", "The entropy has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="entropy = (p * p.log()).sum(-1)",
            right="entropy = -(p * p.log()).sum(-1)",
            harm="A bonus of it pays the policy for being certain.",
            fix="negate the sum",
            fine="Where it is meant as a loss: call it so.",
            seen_in="rlworkgroup/garage#628",
        ),
        Mistake(
            "ENT102", "entropy-in-other-units", "The logarithm is not the natural one.",
            knobs=({"base": 2.0}, {"base": 10.0}),
            wrong="entropy = -(p * p.log2()).sum(-1)",
            right="entropy = -(p * p.log()).sum(-1)",
            harm="The weight of the bonus, and what is logged, cannot be compared with those of others.",
            fix="use the natural logarithm",
            fine="Where bits are meant.",
        ),
        Mistake(
            "ENT103", "entropy-not-summed-over-dimensions", "The entropy is not summed over the action's dimensions.",
            knobs=({"dims": "mean"}, {"dims": "none"}),
            wrong="entropy = Normal(mean, std).entropy().mean()",
            right="entropy = Normal(mean, std).entropy().sum(-1).mean()",
            harm="The bonus depends on how many dimensions an action has.",
            fix="sum over the last axis",
            seen_in="DLR-RM/stable-baselines3 commit fd9e73cf",
        ),
        Mistake(
            "ENT104", "entropy-logits-as-probabilities", "Logits are taken for probabilities.",
            knobs=({"read": "probabilities"}, {"read": "unscaled"}),
            wrong="entropy = Categorical(logits).entropy()",
            right="entropy = Categorical(logits=logits).entropy()",
            harm="It is the entropy of another distribution, or an exception where a logit is negative.",
            fix="pass logits by name, or apply a softmax first",
            seen_in="thu-ml/tianshou#1193",
        ),
        Mistake(
            "ENT105", "entropy-softmax-twice", "A softmax is applied to what is a probability already.",
            knobs={"read": "softmax twice"},
            wrong="entropy = Categorical(logits=probs).entropy()",
            right="entropy = Categorical(probs=probs).entropy()",
            harm="The entropy looks near its maximum whatever the policy does.",
            fix="apply the softmax once",
        ),
        Mistake(
            "ENT118", "entropy-softmax-over-batch", "The softmax is over the batch, not over the actions.",
            knobs={"read": "over batch"},
            wrong="p = F.softmax(logits, dim=0)",
            right="p = F.softmax(logits, dim=-1)",
            harm="The probabilities of a state do not add up to 1, and rows of a batch depend on each other.",
            fix="take the softmax over the last axis",
        ),
        Mistake(
            "ENT106", "entropy-constant-wrong", "The constant ½ log(2πe) of a Gaussian is missing or wrong.",
            knobs=(
                {"constant": 0.0}, {"constant": 0.5}, {"constant": HALF_LOG_2PI}, {"constant": 2.0 * CONSTANT},
                {"constant": 0.5 + 2.0 * HALF_LOG_2PI}, {"constant": 0.5 + 0.5 * float(np.log(np.pi))}, {"once": True},
            ),
            wrong="entropy = log_std.sum(-1)",
            right="entropy = (0.5 + 0.5 * math.log(2 * math.pi) + log_std).sum(-1)",
            harm="What is logged is off by a constant, and so is a target for it; the gradient is right.",
            fix="add ½ + ½ log(2π) for every dimension",
        ),
        Mistake(
            "ENT107", "entropy-std-and-variance-confused", "Standard deviation and variance are confused.",
            knobs=({"scale": "halved"}, {"scale": "doubled"}),
            wrong="entropy = 0.5 * (2 * math.pi * math.e * std).log()",
            right="entropy = 0.5 * (2 * math.pi * math.e * std**2).log()",
            harm="The bonus on log σ is half or twice what it should be.",
            fix="square σ inside the logarithm, and halve the logarithm of a variance",
        ),
        Mistake(
            "ENT108", "entropy-log-std-and-std-confused", "log σ is taken for σ, or σ for log σ.",
            knobs=({"scale": "log of log"}, {"scale": "exp"}),
            wrong="entropy = Normal(mean, log_std).entropy().sum(-1)",
            right="entropy = Normal(mean, log_std.exp()).entropy().sum(-1)",
            harm="It is the entropy of another distribution, or NaN where log σ is negative.",
            fix="take the exp of log σ",
        ),
        Mistake(
            "ENT109", "entropy-mask-ignored", "Actions that are not allowed count.",
            knobs={"masked": "ignored"},
            wrong="entropy = Categorical(logits=logits).entropy()",
            right="entropy = Categorical(logits=logits.masked_fill(~mask, -1e9)).entropy()",
            harm="The bonus pays for probability on actions that are never taken.",
            fix="mask the logits before the softmax",
        ),
        Mistake(
            "ENT110", "entropy-mask-after-softmax", "Probabilities are masked, and not scaled to add up to 1.",
            knobs={"masked": "unscaled"},
            wrong="p = softmax(logits) * mask; entropy = -(p * p.clamp_min(1e-9).log()).sum(-1)",
            right="p = softmax(logits.masked_fill(~mask, -1e9)); entropy = -(p * p.clamp_min(1e-9).log()).sum(-1)",
            harm="The entropy of a state with one allowed action is not 0.",
            fix="mask the logits before the softmax",
        ),
        Mistake(
            "ENT117", "entropy-masked-logits-zero", "Logits of actions that are not allowed are set to 0.",
            knobs={"masked": "zero"},
            wrong="entropy = Categorical(logits=logits * mask).entropy()",
            right="entropy = Categorical(logits=logits.masked_fill(~mask, -1e9)).entropy()",
            harm="A logit of 0 is no small one: actions that are not allowed keep their probability.",
            fix="set them to a large negative number",
        ),
        Mistake(
            "ENT111", "entropy-nan-where-masked", "NaN where an action is not allowed: 0 times −∞.",
            knobs={"masked": "nan"},
            wrong="logits[~mask] = -inf; entropy = -(p * log_p).sum(-1)",
            right="entropy = -(p * log_p).masked_fill(~mask, 0).sum(-1)",
            harm="The loss is NaN, and so are all weights after one step.",
            fix="leave out the masked terms, or mask with a large negative number",
            seen_in="Stable-Baselines-Team/stable-baselines3-contrib#302",
        ),
        Mistake(
            "ENT112", "entropy-not-weighted", "The logs are not weighed by their probabilities.",
            knobs={"weighted": "nothing"},
            wrong="entropy = -log_p.sum(-1)",
            right="entropy = -(p * log_p).sum(-1)",
            harm="It grows without end as an action becomes unlikely, so the bonus never lets go.",
            fix="multiply each log by its probability",
        ),
        Mistake(
            "ENT113", "entropy-averaged-over-actions", "The terms are averaged over the actions, not summed.",
            knobs={"weighted": "mean"},
            wrong="entropy = -(p * log_p).mean()",
            right="entropy = -(p * log_p).sum(-1).mean()",
            harm="The bonus is smaller by the number of actions.",
            fix="sum over the actions and take the mean over the batch",
        ),
        Mistake(
            "ENT114", "entropy-summed-over-batch", "The entropy is summed over the batch.",
            knobs={"batch": "sum"},
            wrong="entropy = -(p * log_p).sum()",
            right="entropy = -(p * log_p).sum(-1).mean()",
            harm="The weight of the bonus grows with the size of the batch.",
            fix="sum over the actions and take the mean over the batch",
            fine="Where it is given one state at a time.",
        ),
        Mistake(
            "ENT115", "entropy-of-mean-policy", "It is the entropy of the mean policy, not the mean entropy.",
            knobs={"batch": "mean policy"},
            wrong="p = probs.mean(0); entropy = -(p * p.log()).sum()",
            right="entropy = -(probs * probs.log()).sum(-1).mean()",
            harm="A policy that is certain in every state looks random.",
            fix="take the entropy of each state and average after that",
        ),
        Mistake(
            "ENT116", "entropy-samples-weighted-twice", "Sampled log-probabilities are weighed by their probability.",
            knobs={"twice": True},
            wrong="entropy = -(logp.exp() * logp).mean()",
            right="entropy = -logp.mean()",
            harm="Samples come as often as they are likely already: rare actions are counted out.",
            fix="take the mean of −log π over the samples",
        ),
    ),
)  # fmt: skip
