"""What the program was found to be and to compute, in lines. The data is that of the report's `program`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rldebug.finding import thousands


def lines(found: Mapping[str, Any]) -> list[str]:
    """The first says what it is; the others what it computes, and what cannot be told yet."""
    return [headline(found), *(each for each in _computes(found) if each)]


def headline(found: Mapping[str, Any]) -> str:
    parts = [str(found["family"])] if "family" in found else []
    signs = {"gamma": "γ", "lambda": "λ"}
    parts += [f"{sign} = {found[name]:.4g}" for name, sign in signs.items() if found.get(name) is not None]
    if "environment" in found:
        lanes = found.get("lanes", 1)
        parts.append(f"{found['environment']}{f' × {lanes}' if lanes > 1 else ''}")
    for name, what in (("env_steps", "env steps"), ("updates", "optimizer steps")):
        if found.get(name):
            parts.append(f"{thousands(int(found[name]))} {what}")
    return " · ".join(parts)


def _computes(found: Mapping[str, Any]) -> Iterator[str]:
    for each in found.get("targets", ()):
        yield _target(each)
    yield _policy_loss(found)
    yield "; ".join(_optimizer(each) for each in found.get("optimizers", ())[:3])
    yield _batches(found.get("batches", {}))
    yield "; ".join(_follower(each) for each in found.get("target_networks", ())[:3])
    if found.get("undecided"):
        yield f"not decidable yet: {'; '.join(found['undecided'])}"


def _target(target: Mapping[str, Any]) -> str:
    weights = target["of"] == "weight of log-probs"
    said = [f"log-probs weighted by {target['kind']}" if weights else f"{target['of']} targets: {target['kind']}"]
    said += [f"{sign} {target[name]:g}" for name, sign in _SIGNS.items() if name in target]
    if "steps" in target:
        said.append(f"{target['steps']} steps")
    if "reward" in target:
        said.append(f"reward {target['reward']}")
    if "reward_scale" in target:
        said.append(f"reward × {target['reward_scale']:g}")
    sure = [f"{target['explained']:.1%} of {thousands(target['rows'])} rows".replace("100.0%", "100 %")]
    if "residual" in target:
        sure.append(f"residual {target['residual']:.0e}")
    if "runner_up" in target:
        other = target["runner_up"]
        best = f"next best: {other['kind']}, {other['explained']:.0%}"
        sure.append(best if other["explained"] >= 0.005 else "nothing else fits")
    ends = [f"{each['treated']} ({each['rows']} of {each['of']} rows)" for each in target["ends"]]
    return "; ".join([f"{', '.join(said)} ({', '.join(sure)})", *ends])


_SIGNS = {"gamma": "γ", "lambda": "λ", "alpha": "α"}


def _policy_loss(found: Mapping[str, Any]) -> str:
    loss = found.get("policy_loss")
    if not loss:
        return ""
    said = [f"policy loss: {loss['form']} × weight"]
    if loss["form"] == "value":
        sign = "−" if loss["sign"] < 0 else ""
        said = [f"policy loss: {sign}value of the actor's action, by {' and '.join(loss['critics'][:3])}"]
    if "clip" in loss:
        said.append(f"clipped to {loss['clip'][0]:g}–{loss['clip'][1]:g}")
    if "entropy" in loss:
        said.append(f"entropy {loss['entropy']:+g}")
    if "value" in loss:
        said.append(f"value {loss['value']:g}")
    if found.get("advantages"):
        said.append(f"advantages: {found['advantages']}")
    return "; ".join(said)


def _optimizer(each: Mapping[str, Any]) -> str:
    rate = f" {each['lr']:g}" if "lr" in each else ""
    rate += f" → {each['lr_last']:g}" if "lr_last" in each else ""
    trains = f" on {', '.join(each['trains'][:3])}" if each["trains"] else ""
    clipped = f", gradients clipped at {each['gradients_clipped_at']:g}" if "gradients_clipped_at" in each else ""
    return f"{each['class']}{rate}{trains}{clipped}"


def _batches(batches: Mapping[str, Any]) -> str:
    if not batches:
        return ""
    said = f"updates on {thousands(batches['rows'])} rows"
    if "epochs" in batches:
        said += f", {batches['epochs']:g} time{'s' * (batches['epochs'] != 1)} over each rollout"
    if "replay_ratio" in batches:
        said += f", each env step learned from {batches['replay_ratio']:g} times"
    return said


def _follower(each: Mapping[str, Any]) -> str:
    if "unchanged_for" in each:
        return (
            f"{each['name']}, a copy of {each['follows']}, did not change in {thousands(each['unchanged_for'])} updates"
        )
    said = f"{each['name']} follows {each['follows']}"
    if "tau" in each:
        return f"{said}, τ {each['tau']:g}"
    return f"{said}, copied every {each['copied_every']} updates" if "copied_every" in each else said
