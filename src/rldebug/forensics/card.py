"""The card: what the program computes, in words. Only what was worked out; what cannot be told yet is said to be so.

Numbers are measured on what the program did, not read from its settings. A choice (no gradient clipping, time limits
treated as ends) is stated and not judged: that is what rules are for.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import thousands
from rldebug.forensics.clips import clips_of
from rldebug.forensics.followers import followers
from rldebug.forensics.passes import ActorPass, actor_passes, network_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.target_ends import Ending
from rldebug.forensics.targets import Fit, fit_targets, fit_weights
from rldebug.forensics.worlds import training_streams

_KINDS = {"gae": "GAE", "monte-carlo": "discounted returns", "td": "one-step TD", "reward": "the reward alone"}
_RIGHTLY = {
    ("terminated", "zero"): "a terminated step is not bootstrapped",
    ("truncated", "final"): "a truncated step is bootstrapped from its final observation",
    ("truncated", "follows"): "a truncated step is bootstrapped",
    ("rollout", "value"): "the end of a rollout is bootstrapped",
}
_WRONGLY = {
    ("truncated", "zero"): "truncation treated as termination",
    ("rollout", "zero"): "the end of a rollout treated as termination",
    ("rollout", "own"): "the end of a rollout is bootstrapped from its own last state",
    ("rollout", "begun"): "the end of a rollout is bootstrapped from the state that it began with",
    ("rollout", "itself"): "the last step of a rollout is left out",
    ("truncated", "twice"): "a truncated step is bootstrapped, and goes on as if nothing had ended",
    ("terminated", "lost"): "the reward of a terminated step is lost",
    ("terminated", "itself"): "the last step of an episode is left out",
    ("terminated", "entropy"): "a terminated step is paid for the entropy of the next",
    ("eve", "value"): "the sum is cut off a step before a terminated one",
    ("terminated", "reversed"): "the rewards up to a terminated step are discounted the other way round",
    ("terminated", "opposed"): "a terminated step has the opposite of its reward",
}
_WRONG_WAYS = {
    "follows": "a {} step goes on as if nothing had ended",
    "value": "a {} step is bootstrapped from the next episode's first observation",
    "leak": "the sum runs on over a {} step into the next episode",
    "final": "a {} step is bootstrapped from its final observation",
}
_ENDS = ("terminated", "truncated")


def card(script: Script) -> dict[str, Any]:
    """By topic, plain data: what can be told of it."""
    fits = fit_targets(script)
    found: dict[str, Any] = {
        "targets": [_target(each) for each in _distinct(fits)],
        "policy_loss": _policy_loss(script),
        "advantages": _advantages(script),
        "optimizers": list(_optimizers(script)),
        "batches": _batches(script),
        "target_networks": list(_target_networks(script)),
        "undecided": list(_undecided(script, fits)),
    }
    return {name: each for name, each in found.items() if each}


def _distinct(fits: Sequence[Fit]) -> list[Fit]:
    """Twin critics learn from one target."""
    seen: dict[tuple[Any, ...], Fit] = {}
    for each in fits:
        gamma = None if each.gamma is None else round(each.gamma, 4)
        seen.setdefault((each.what, each.name, gamma, each.n), each)
    return list(seen.values())


def _target(fit: Fit) -> dict[str, Any]:
    of = {"value": "value", "q": "Q", "weight": "weight of log-probs"}[fit.what]
    found: dict[str, Any] = {"of": of, "kind": _kind(fit.name), "rows": fit.rows, "audits": fit.audits}
    found["explained"] = round(fit.share, 3)
    if fit.residual is not None:
        found["residual"] = float(f"{fit.residual:.1e}")
    if fit.runner_up is not None:
        name, share = fit.runner_up
        found["runner_up"] = {"kind": _kind(name), "explained": round(share, 3)}
    for name, value, digits in (("gamma", fit.gamma, 5), ("lambda", fit.lam, 4), ("alpha", fit.entropy, 4)):
        if value is not None:
            found[name] = round(abs(value) if name == "alpha" else value, digits)
    if fit.n > 1:
        found["steps"] = fit.n
    if abs(fit.reward - 1.0) > 1e-4:
        found["reward_scale"] = float(f"{fit.reward:.4g}")
    if fit.changed:
        found["reward"] = {"clip": "clipped to ±1", "sign": "its sign"}.get(fit.changed, fit.changed)
    found["ends"] = [
        {"kind": each.kind, "treated": _treated(each), "rows": each.hit, "of": each.rows}
        for each in fit.endings
        if _treated(each)
    ]
    return found


def _kind(name: str) -> str:
    """As it is said of a formula: `max of`, `double … by …`, `min … …` are what was bootstrapped from."""
    words = name.split()
    if len(words) == 4 and words[0] == "double" and words[2] == "by":
        return f"{words[3]} picks the next action, {words[1]} values it (double)"
    if len(words) == 4 and words[0] == "elsewhere":
        return f"{words[1]} at the action that {words[3]} picks in the observation before"
    if name.startswith("max of ") and len(words) == 3:
        return f"the largest value of {words[2]}"
    if words[0] == "min" and len(words) == 3:
        return f"the smaller of {words[1]} and {words[2]}"
    return _KINDS.get(name, name)


def _treated(ending: Ending) -> str:
    if ending.right:
        return _RIGHTLY.get((ending.kind, ending.way), "")
    said = _WRONGLY.get((ending.kind, ending.way))
    return said or _WRONG_WAYS.get(ending.way, "a {} step: " + ending.way).format(ending.kind)


def _policy_loss(script: Script) -> dict[str, Any]:
    """Form, clipping and the coefficients of what stands beside it, relative to the policy's own."""
    losses = [
        (terms, own)
        for audit in script.audits
        for _, terms in audit.losses
        for own in [next((each for each in terms if each["kind"] == "policy" and not each.get("cut")), None)]
        if own is not None and own["coefficient"]
    ]
    if not losses:
        return _through_critics(script)
    forms = Counter("ratio" if "ratio" in str(own["op"]) else "log-prob" for _, own in losses)
    found: dict[str, Any] = {"form": forms.most_common(1)[0][0]}
    clips = [own["clip"] for _, own in losses if own.get("clip")]
    if clips and found["form"] == "ratio":
        found["clip"] = [round(statistics.median(float(each[side]) for each in clips), 4) for side in (0, 1)]
    for name, kind, sign in (("entropy", "entropy", -1.0), ("value", "regression", 1.0)):
        beside = [
            sign * float(each["coefficient"]) / abs(float(own["coefficient"]))
            for terms, own in losses
            for each in terms
            if each["kind"] == kind and each["reduction"] == own["reduction"]
        ]
        if beside:
            found[name] = float(f"{statistics.median(beside):.3g}")
    return found


def _through_critics(script: Script) -> dict[str, Any]:
    """An actor that learns through what critics say of its actions: which way, and with how much entropy."""
    passes = [(each, _lowered(each)) for each in actor_passes(script)]
    ways = {way for _, way in passes}
    if len(passes) < _PASSES or len(ways) != 1 or None in ways:
        return {}
    critics = sorted({network_of(script, push.module) for each, _ in passes for push in each.critics})
    found: dict[str, Any] = {"form": "value", "sign": 1 if True in ways else -1, "critics": critics}
    terms = {id(loss): own for audit in script.audits for loss, own in audit.losses}
    factors = [
        float(one["coefficient"]) / abs(float(own["coefficient"]))
        for each, _ in passes
        for two in [terms.get(id(each.loss), [])]
        for own in two
        for one in two
        if own["kind"] == "output" and own.get("op") in ("mean", "sum") and own.get("through") and own["coefficient"]
        and one["kind"] == "output" and one.get("op") == "logp" and one["reduction"] == own["reduction"]
    ]  # fmt: skip
    if factors:
        found["entropy"] = float(f"{statistics.median(factors):.3g}")
    return found


_PASSES = 3  # backward passes from which it is told what an actor learns


def _lowered(each: ActorPass) -> bool | None:
    """Whether the loss falls where the critics say less; None where that differs by row."""
    pushed = np.concatenate([push.gradient.sum(axis=1) for push in each.critics])
    pushed = pushed[pushed != 0]
    return bool(pushed[0] > 0) if len(pushed) and (np.sign(pushed) == np.sign(pushed[0])).all() else None


def _advantages(script: Script) -> str:
    """How the weights of log-probs stand to target minus value."""
    weights = [each for each in fit_weights(script) if each.of == "advantage"]
    if not weights:
        return ""
    return "target − value" if all(abs(abs(each.slope) - 1.0) < 1e-4 for each in weights) else "normalised"


def _optimizers(script: Script) -> Iterator[dict[str, Any]]:
    for name, each in script.optimizers.items():
        if not each.get("steps"):
            continue
        trains = sorted(each.get("modules") or ())
        found = {"name": name, "class": each.get("class"), "steps": each["steps"], "trains": trains}
        first, last = each.get("lr_first"), each.get("lr_last")
        if first is not None:
            found["lr"] = float(f"{first:.4g}")
        if last is not None and last != first:
            found["lr_last"] = float(f"{last:.4g}")
        limits = {clip.limit for clip in clips_of(script) if clip.modules & set(trains)}
        if len(limits) == 1 and _clipped(script, name):
            found["gradients_clipped_at"] = limits.pop()
        yield found


def _clipped(script: Script, optimizer: str) -> bool:
    """Two optimizers may train one network, of which one clips."""
    steps = [each for _, each in script.events("step") if each["optimizer"] == optimizer]
    told = [each["clipped"] for each in steps if each.get("clipped") is not None]
    return not told or any(told)


def _batches(script: Script) -> dict[str, Any]:
    """Rows of an update; for a program that learns from rollouts, how often it goes over each."""
    kinds = ("policy",) if any(True for _ in script.terms("policy")) else _LEARNED  # a discriminator has its own
    sizes = Counter(_rows(term) for audit in script.audits for term in audit.of("term") if term["kind"] in kinds)
    if not sizes:
        return {}
    size = sizes.most_common(1)[0][0]
    found: dict[str, Any] = {"rows": size}
    counts = script.counts
    if roles_of(script).on_policy:
        times = _times_over(script)
        if times is not None:
            found["epochs"] = times
    elif counts.get("env_steps") and roles_of(script).family != "ppo":
        steps = max((int(each["steps"]) for each in script.optimizers.values() if each.get("steps")), default=0)
        found["replay_ratio"] = float(f"{steps * size / counts['env_steps']:.3g}")
    return found


def _rows(term: Event) -> int:
    """Of which a term is; each of them may be several numbers, as what a model predicts of an observation is."""
    rows, given = int(term["rows"]), term.get("first_input_shape") or ()
    fed = math.prod(int(each) for each in given[:-1]) if len(given) > 1 else 0
    said = list((term.get("shapes") or {}).get("prediction") or [1])
    several = len(said) == len(given) and said[:-1] == list(given[:-1]) and "index" not in term.arrays
    if several and 0 < fed < rows and rows == fed * int(said[-1]):
        return fed
    # Quantiles of one side against those of the other: a number for each pair, of each critic, in each row.
    own = (term.get("shapes") or {}).get("target") or []
    alike = len(own) == len(said) > len(given) and said[: len(given) - 1] == list(given[:-1])
    paired = alike and math.prod(map(max, said, own)) == rows
    return fed if paired and "index" not in term.arrays and 0 < fed < rows else rows


_LEARNED = ("policy", "regression", "classification")


def _times_over(script: Script) -> float | None:
    """Rows that the policy learned from, over the steps that were acted: how often a rollout is gone over."""
    roles = roles_of(script)
    acted = sum(int(each["steps"]) for each in training_streams(script))
    sizes = [_counted(each) for _, each in script.terms("policy")]
    steps = [
        int(each["steps"])
        for each in script.optimizers.values()
        if each.get("steps") and roles.policy & set(each.get("modules") or ())
    ]
    if not acted or not sizes or len(steps) != 1:
        return None
    masked = any("mask" in each.arrays for _, each in script.terms("policy"))
    times = steps[0] * (statistics.mean(sizes) if masked else statistics.mode(sizes)) / acted
    return float(round(times)) if abs(times - round(times)) < 0.1 * times and times > 0.9 else float(f"{times:.2g}")


def _counted(term: Event) -> int:
    """Rows that are learned from: without the filler that a mask takes out."""
    mask = term.arrays.get("mask")
    return int(term["rows"]) if mask is None or np.size(mask) != term["rows"] else int(np.count_nonzero(mask))


def _target_networks(script: Script) -> Iterator[dict[str, Any]]:
    for each in followers(script):
        found: dict[str, Any] = {"name": each.target, "follows": each.online}
        taus = each.taus[each.taus < 1.0]
        if len(taus):
            found["tau"] = float(f"{np.median(taus):.4g}")
        elif len(each.loads) > 2:
            found["copied_every"] = round(float(np.median(np.diff(each.loads))))
        elif each.still and each.span and not each.loaded:
            found["unchanged_for"] = each.span
        yield found


def _undecided(script: Script, fits: Sequence[Fit]) -> Iterator[str]:
    """What the data has not shown yet, and could."""
    stream = roles_of(script).stream
    told = next((each for each in script.streams if int(each["index"]) == stream), None)
    if told is None or not told.get("steps"):
        return
    steps = thousands(int(told["steps"]))
    if not fits:
        if not script.audits or any(True for kind in ("regression", "policy") for _ in script.terms(kind)):
            yield "by which formula the targets are made"
        return
    seen = {each.kind for fit in fits for each in fit.endings}
    for kind, count in zip(_ENDS, ("terminations", "truncations"), strict=True):
        if kind in seen:
            continue
        number = int(told.get(count) or 0)
        why = f"none of {number} was among the rows that were followed" if number else f"none seen in {steps} steps"
        yield f"how a {kind} step is treated ({why})"
