"""KL divergence between two policies: exact, or estimated from log-probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.oracles.material.pairs import QUANTITIES
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Style, Values, floats


def reference(case: Case) -> Values:
    rows = []
    for n in range(len(case["logp"])):
        if case["kind"] == "categorical":
            p, q = (np.exp(case[name][n]) / np.exp(case[name][n]).sum() for name in ("old_logits", "logits"))
            rows.append(sum(float(a * np.log(a / b)) for a, b in zip(p, q, strict=True)))
        elif case["kind"] == "gaussian":
            kl = 0.0
            for d in range(case["mean"].shape[1]):
                s_p, s_q = float(np.exp(case["old_log_std"][n, d])), float(np.exp(case["log_std"][n, d]))
                gap = float(case["old_mean"][n, d] - case["mean"][n, d])
                kl += float(np.log(s_q / s_p)) + (s_p**2 + gap**2) / (2.0 * s_q**2) - 0.5
            rows.append(kl)
        elif case["kind"] == "samples":
            rows.append(float(case["old_logp"][n] - case["logp"][n]))
        else:
            rows.append(float(case["logp"][n] - case["ref_logp"][n]))
    return {"kl": floats(rows)}


def variant(
    case: Case,
    *,
    reduce: str = "none",  # style: none, mean
    estimator: str = "k1",  # style: k1, k2, k3, abs
    swapped: bool = False,
    sign: float = 1.0,
    constant: float = 1.0,  # how much of −½, or of −1 in k3, is there
    half: float = 0.5,
    power: int = 2,  # of the standard deviations
    log_term: float = 1.0,
    mean_term: float = 1.0,
    under: str = "new",  # whose variance is divided by: new, old
    dims: str = "sum",  # sum, mean, none
    read: str = "right",  # right, raw: logits as logs, probabilities: logits as such, no log: of the new policy
    weighted: str = "old",  # by whose probabilities: old, new, nothing
    actions: str = "sum",  # sum, mean
    batch: str = "rows",  # rows, sum
    zero: bool = False,
) -> Values:
    if case["kind"] == "categorical":
        pair = (case["old_logits"], case["logits"])
        rows = _categorical(*(pair[::-1] if swapped else pair), read, weighted, actions)
    elif case["kind"] == "gaussian":
        old, new = (case["old_mean"], case["old_log_std"]), (case["mean"], case["log_std"])
        first, second = (new, old) if swapped else (old, new)
        spread_p, spread_q = np.exp(first[1]), np.exp(second[1])
        below = spread_q if under == "new" else spread_p
        each = log_term * (second[1] - first[1])
        each = each + half * (spread_p**power + mean_term * (first[0] - second[0]) ** 2) / below**power - 0.5 * constant
        rows = {"sum": each.sum(-1), "mean": each.mean(-1), "none": each}[dims]
    else:
        p, q = (case["old_logp"], case["logp"]) if case["kind"] == "samples" else (case["logp"], case["ref_logp"])
        ratio = (p - q) if swapped else (q - p)
        rows = {
            "k1": lambda: -ratio,
            "k2": lambda: half * ratio**2,
            "k3": lambda: np.exp(ratio) - constant - log_term * ratio,
            "abs": lambda: np.abs(ratio),
        }[estimator]()
    rows = sign * rows * (0.0 if zero else 1.0)
    if batch == "sum":
        return {"kl": np.asarray(rows.sum(0))}
    return {"kl": np.asarray(rows.mean() if reduce == "mean" else rows)}


def _categorical(old: Array, new: Array, read: str, weighted: str, actions: str) -> Array:
    def probs(logits: Array) -> Array:
        weights = logits if read == "probabilities" else np.exp(logits)
        return np.asarray(weights / weights.sum(-1, keepdims=True))

    p, q = probs(old), probs(new)
    logs = (old - new) if read == "raw" else np.log(p) - (q if read == "no log" else np.log(q))
    weight = {"old": p, "new": q, "nothing": np.ones_like(p)}[weighted]
    return np.asarray((weight * logs).mean(-1) if actions == "mean" else (weight * logs).sum(-1))


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _case(name: str, kind: str, **given: Any) -> Case:
    made: dict[str, Any] = {key: floats(value) for key, value in given.items()}
    rows = len(next(iter(made.values())))
    filled = {
        "logits": np.tile([0.5, 1.0, 2.0], (rows, 1)),
        "old_logits": np.tile([1.0, 0.5, 1.5], (rows, 1)),
        "mean": np.tile([1.0, -2.0], (rows, 1)),
        "old_mean": np.tile([0.5, -1.0], (rows, 1)),
        "log_std": np.tile([0.5, 0.25], (rows, 1)),
        "old_log_std": np.tile([0.25, 0.75], (rows, 1)),
        "logp": -np.resize([1.0, 2.0], rows),
        "old_logp": -np.resize([0.5, 1.5], rows),
        "ref_logp": -np.resize([1.5, 1.0], rows),
    }
    return Case(name, {"kind": kind, **filled, **made})


def cases() -> list[Case]:
    return [
        _case("one state, two actions", "categorical", old_logits=[[0.5, 2.0]], logits=[[1.0, 1.5]]),
        _case("two states, three actions", "categorical", old_logits=[[0.5, 1.0, 2.0], [3.0, 0.25, 0.5]],
              logits=[[1.0, 0.25, 1.0], [2.0, 0.5, 1.5]]),
        _case("four states, three actions", "categorical",
              old_logits=[[0.5, 1.0, 2.0], [3.0, 0.25, 0.5], [1.0, 1.0, 1.0], [2.0, 1.5, 0.5]],
              logits=[[1.0, 0.25, 1.0], [2.0, 0.5, 1.5], [0.5, 1.0, 0.75], [2.5, 1.5, 0.25]]),
        _case("two states, the same policy", "categorical", old_logits=[[0.5, 1.0], [3.0, 0.25]],
              logits=[[0.5, 1.0], [3.0, 0.25]]),
        _case("one state, one dimension", "gaussian", old_mean=[[1.0]], mean=[[2.0]], old_log_std=[[0.25]],
              log_std=[[0.5]]),
        _case("one state, two dimensions", "gaussian", old_mean=[[1.0, -1.0]], mean=[[2.0, -1.5]],
              old_log_std=[[0.25, 0.5]], log_std=[[0.5, 0.25]]),
        _case("two states, two dimensions", "gaussian", old_mean=[[1.0, -1.0], [0.0, 2.0]],
              mean=[[1.5, -2.0], [0.5, 0.0]], old_log_std=[[0.25, 0.5], [0.125, 0.75]],
              log_std=[[0.5, 0.25], [0.5, 1.0]]),
        _case("four states, three dimensions", "gaussian",
              old_mean=[[1.0, -1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.0, -1.0]],
              mean=[[1.5, -2.0, 0.5], [0.5, 0.0, 1.0], [1.0, 2.0, 0.5], [2.5, 1.0, -1.0]],
              old_log_std=[[0.25, 0.5, 0.75], [0.125, 0.75, 0.5], [0.5, 0.5, 0.25], [0.75, 0.25, 1.0]],
              log_std=[[0.5, 0.25, 0.5], [0.5, 1.0, 0.25], [0.25, 0.75, 0.5], [0.5, 0.5, 0.75]]),
        _case("two samples", "samples", old_logp=[-1.0, -2.0], logp=[-0.5, -2.25]),
        _case("four samples", "samples", old_logp=[-1.0, -2.0, -0.5, -3.0], logp=[-0.5, -2.25, -1.5, -2.5]),
        _case("four samples, beside a reference policy", "reference", ref_logp=[-1.0, -2.0, -0.5, -3.0],
              logp=[-0.5, -2.25, -1.5, -2.5]),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    """Good for any kind: which one it is, the arguments of the function tell."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    shape = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    quarters = arrays.arrays(np.int64, shape, elements=st.integers(1, 6))
    old, new = draw(quarters) / 4.0, draw(quarters) / 4.0
    made = _case(
        "drawn at random",
        draw(st.sampled_from(list(_OLD_OF))),
        old_logits=old,
        logits=new,
        old_mean=old,
        mean=new,
        old_log_std=1.75 - old,
        log_std=np.roll(new, 1, axis=-1),
        old_logp=-old[:, 0],
        logp=-new[:, 0],
        ref_logp=-old[:, -1],
    )
    return made.but(any=True)


_OLD_OF = {
    "categorical": {"old_logits", "old_probs", "old_log_probs", "old_categorical", "old_held"},
    "gaussian": {"old_mean", "old_normal"},
    "reference": {"ref_logp"},
    "samples": {"old_logp", "old_neg_logp", "log_ratio"},
}


def told(case: Case, bound: frozenset[str]) -> Case:
    kind = next((kind for kind, names in _OLD_OF.items() if bound & names), None)
    return case.but(kind=kind) if case.given.get("any", False) and kind is not None else case


def fair(case: Case, bound: frozenset[str]) -> bool:
    kind = told(case, bound)["kind"]
    if bound & {"old_categorical", "old_held", "old_normal"} and len(case["logp"]) == 1:
        return False  # objects come with an axis of states, whatever the layout
    return bool(bound & _OLD_OF[kind]) and (kind != "samples" or "ref_logp" not in bound)


KL = Oracle(
    name="kl",
    aliases="kl-divergence approx-kl kl-estimate kl-penalty kl-div",
    code="POL135",
    summary="KL divergence from the old policy to the new one, exact or estimated from samples of the old one.",
    formula="KL(old‖new) = Σ_a p_old (log p_old − log p_new);  from samples, r = log π − log π_old: −r, ½r², e^r−1−r",
    example="def approx_kl(log_probs, old_log_probs)",
    references="Schulman, *Approximating KL divergence*, joschu.net/blog/kl-approx.html.",
    quantities=QUANTITIES,
    outputs=(Output("kl", "kl approx_kl kl_div kl_divergence kls old_approx_kl mean_kl kl_loss kl_penalty", "N"),),
    required=(
        "logp|neg_logp|log_ratio|logits|probs|log_probs|mean|categorical|normal|held",
        "old_logp|old_neg_logp|ref_logp|log_ratio|old_logits|old_probs|old_log_probs|old_mean|old_categorical|old_normal|"
        "old_held",
    ),
    columns=("logp", "old_logp", "ref_logp", "old_logits", "logits", "old_mean", "mean", "old_log_std", "log_std"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    styles=tuple(
        Style(", ".join(filter(None, (said, how))) or "usual", {"estimator": estimator, "reduce": reduce})
        for estimator, said in (
            ("k1", ""), ("k3", "k3: e^r − 1 − r"), ("k2", "k2: ½ r²"), ("abs", "the size of the difference"),
        )
        for reduce, how in (("none", ""), ("mean", "mean over the batch"))
    ),
    mistakes=(
        Mistake(
            "POL136", "kl-reversed", "The divergence is from the new policy to the old one.",
            knobs={"swapped": True},
            wrong="kl = kl_divergence(new_dist, old_dist)",
            right="kl = kl_divergence(old_dist, new_dist)",
            harm="Early stopping and penalties look at another divergence; from samples it is negative on average.",
            fix="swap the two policies",
            fine="Where KL(new‖old) is meant.",
            seen_in="vwxyzjn/cleanrl commit 7dc0baef",
        ),
        Mistake(
            "POL137", "kl-sign-flipped", "The divergence has the opposite sign.",
            knobs={"sign": -1.0},
            wrong="kl = (p * (q.log() - p.log())).sum(-1)",
            right="kl = (p * (p.log() - q.log())).sum(-1)",
            harm="It is never positive, so a limit on it never takes hold.",
            fix="subtract the log of the new policy from that of the old one",
        ),
        Mistake(
            "POL138", "kl-constant-missing", "The constant is missing: ½ of a Gaussian, or 1 of k3.",
            knobs={"constant": 0.0},
            wrong="kl = ratio.exp() - ratio",
            right="kl = ratio.exp() - 1 - ratio",
            harm="The divergence of a policy from itself is not 0.",
            fix="subtract the constant",
        ),
        Mistake(
            "POL139", "kl-not-halved", "The factor ½ is missing.",
            knobs=({"half": 1.0}, {"half": 1.0, "constant": 2.0}),
            wrong="kl = (logp - old_logp).pow(2).mean()",
            right="kl = 0.5 * (logp - old_logp).pow(2).mean()",
            harm="The divergence looks about twice as large as it is.",
            fix="multiply by ½",
        ),
        Mistake(
            "POL140", "kl-std-not-squared", "Standard deviations are used where variances should be.",
            knobs={"power": 1},
            wrong="kl = log_std - old_log_std + (old_std + (old_mean - mean) ** 2) / (2 * std) - 0.5",
            right="kl = log_std - old_log_std + (old_std**2 + (old_mean - mean) ** 2) / (2 * std**2) - 0.5",
            harm="The divergence is wrong wherever σ is not 1.",
            fix="square both standard deviations",
        ),
        Mistake(
            "POL141", "kl-log-term-missing", "The logarithm is left out.",
            knobs={"log_term": 0.0},
            wrong="kl = ratio.exp() - 1",
            right="kl = ratio.exp() - 1 - log_ratio",
            harm="It can be negative, and its mean says nothing.",
            fix="subtract the log of the ratio; for Gaussians, add log σ_new − log σ_old",
        ),
        Mistake(
            "POL142", "kl-log-term-sign-flipped", "The logarithm has the opposite sign.",
            knobs={"log_term": -1.0},
            wrong="kl = ratio.exp() - 1 + log_ratio",
            right="kl = ratio.exp() - 1 - log_ratio",
            harm="It can be negative, and its mean says nothing.",
            fix="subtract the log of the ratio; for Gaussians, add log σ_new − log σ_old",
        ),
        Mistake(
            "POL143", "kl-means-ignored", "The distance between the means is left out.",
            knobs={"mean_term": 0.0},
            wrong="kl = log_std - old_log_std + old_std**2 / (2 * std**2) - 0.5",
            right="kl = log_std - old_log_std + (old_std**2 + (old_mean - mean) ** 2) / (2 * std**2) - 0.5",
            harm="A policy that moves all its means has a divergence of 0.",
            fix="add the squared distance of the means",
        ),
        Mistake(
            "POL144", "kl-old-variance-below", "Divided by the variance of the old policy.",
            knobs={"under": "old"},
            wrong="kl = log_std - old_log_std + (old_std**2 + (old_mean - mean) ** 2) / (2 * old_std**2) - 0.5",
            right="kl = log_std - old_log_std + (old_std**2 + (old_mean - mean) ** 2) / (2 * std**2) - 0.5",
            harm="A policy that narrows is not seen to move away.",
            fix="divide by the variance of the new policy",
        ),
        Mistake(
            "POL145", "kl-not-summed-over-dimensions", "The divergence is not summed over the action's dimensions.",
            knobs=({"dims": "mean"}, {"dims": "none"}),
            wrong="kl = kl_divergence(Normal(m0, s0), Normal(m1, s1)).mean()",
            right="kl = kl_divergence(Normal(m0, s0), Normal(m1, s1)).sum(-1).mean()",
            harm="A limit on it is looser the more dimensions an action has.",
            fix="sum over the last axis",
        ),
        Mistake(
            "POL146", "kl-logits-not-normalised", "Logits are used as if they were logs of probabilities.",
            knobs={"read": "raw"},
            wrong="kl = (p * (old_logits - logits)).sum(-1)",
            right="kl = (p * (old_logits.log_softmax(-1) - logits.log_softmax(-1))).sum(-1)",
            harm="A constant added to all logits changes the divergence.",
            fix="apply log_softmax to the logits",
        ),
        Mistake(
            "POL147", "kl-logits-as-probabilities", "Logits are taken for probabilities.",
            knobs={"read": "probabilities"},
            wrong="kl = kl_divergence(Categorical(old_logits), Categorical(logits))",
            right="kl = kl_divergence(Categorical(logits=old_logits), Categorical(logits=logits))",
            harm="It is the divergence of other distributions, or an exception where a logit is negative.",
            fix="pass logits by name",
        ),
        Mistake(
            "POL153", "kl-probabilities-for-logs", "Probabilities of the new policy are used where logs belong.",
            knobs={"read": "no log"},
            wrong="kl = F.kl_div(q, p, reduction='batchmean')",
            right="kl = F.kl_div(q.log(), p, reduction='batchmean')",
            harm="The divergence of a policy from itself is not 0.",
            fix="pass the log-probabilities of the new policy first",
        ),
        Mistake(
            "POL148", "kl-not-weighted", "The differences are not weighed by the old probabilities.",
            knobs={"weighted": "nothing"},
            wrong="kl = (old_log_p - log_p).sum(-1)",
            right="kl = (old_log_p.exp() * (old_log_p - log_p)).sum(-1)",
            harm="It can be negative, and actions that are never taken rule it.",
            fix="multiply each difference by the old probability",
        ),
        Mistake(
            "POL149", "kl-weighted-by-new", "The differences are weighed by the new probabilities.",
            knobs={"weighted": "new"},
            wrong="kl = (log_p.exp() * (old_log_p - log_p)).sum(-1)",
            right="kl = (old_log_p.exp() * (old_log_p - log_p)).sum(-1)",
            harm="It is minus the reversed divergence: never positive.",
            fix="weigh by the probabilities of the policy that comes first",
        ),
        Mistake(
            "POL150", "kl-averaged-over-actions", "The terms are averaged over the actions, not summed.",
            knobs={"actions": "mean"},
            wrong="kl = F.kl_div(log_q, p, reduction='mean')",
            right="kl = F.kl_div(log_q, p, reduction='batchmean')",
            harm="The divergence is smaller by the number of actions.",
            fix="sum over the actions and take the mean over the batch",
        ),
        Mistake(
            "POL151", "kl-summed-over-batch", "The divergence is summed over the batch.",
            knobs={"batch": "sum"},
            wrong="kl = (old_logp - logp).sum()",
            right="kl = (old_logp - logp).mean()",
            harm="It grows with the size of the batch, so a limit on it means something else.",
            fix="take the mean over the batch",
        ),
        Mistake(
            "POL152", "kl-always-zero", "The policy is compared with itself.",
            knobs={"zero": True},
            wrong="kl = kl_divergence(dist, dist)",
            right="kl = kl_divergence(old_dist, dist)",
            harm="A penalty or a limit on it never takes hold.",
            fix="build the old policy from what was stored when it acted",
            seen_in="pytorch/rl#1922",
        ),
    ),
)  # fmt: skip
