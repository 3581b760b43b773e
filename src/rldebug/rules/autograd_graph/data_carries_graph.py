"""Tensors handed over as data carry a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rldebug.evidence.run import Reading, Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_OUTPUTS = ("value", "logp")  # of a rollout: a loop that acts with gradients has these with their graphs, on purpose


@dataclass(frozen=True, kw_only=True)
class DataCarriesGraph(Rule):
    """A target, an advantage or an old log-prob carries a graph into the loss.

    ## What it checks
    Which of the tensors handed over as data (`logp_old`, `target`, `advantage` of an update; observations, actions
    and rewards of a rollout or a replay batch) require grad. An advantage or target that the loss demonstrably does
    not differentiate through is left alone: the loop detaches it where it uses it. So is an old log-prob that is the
    new one.

    ## Why it matters
    The gradient then flows into what should stand still: the critic is pulled away from its target, the policy is
    trained through the advantage, the old policy moves with the new one. And the graph of acting lives on, so memory
    grows, and a second `backward()` fails with “Trying to backward through the graph a second time”.
    `retain_graph=True` makes that message go away and keeps the wrong gradient.

    ## Likely causes
    1. The target or advantage is computed from the critic outside `torch.no_grad()` and without `.detach()`. Confirm:
       the argument named in the finding has a `grad_fn`.
    2. The policy acts outside `torch.no_grad()`, and its log-probs go into the buffer with their graphs. Confirm:
       `rollout` is named as well, with `logp`.
    3. Log-probs of the old policy are recomputed with gradient in each update. Confirm: `policy/log_ratio_absmax` is
       0.

    ## What to try first
    Compute it under `torch.no_grad()`, or add `.detach()` where it is stored.

    ## When it is fine
    REINFORCE and A2C may act with gradients and use those log-probs and values in the loss: a note. Handing over a
    tensor whose graph the loss does not use is harmless; hand over the detached one.

    ## References
    PyTorch, *Autograd mechanics* (locally disabling gradient computation). Sutton and Barto, *Reinforcement
    Learning*, section 9.3 (semi-gradient methods).
    """

    code: ClassVar[str] = "GRA006"
    name: ClassVar[str] = "data-carries-graph"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = ("TGT004",)
    facts: ClassVar[tuple[str, ...]] = ("graphs",)

    def check(self, evidence: Run) -> Iterator[Finding]:
        carried: dict[str, dict[str, Reading]] = {}
        for reading, calls in evidence.facts("graphs"):
            for call, names in calls.items():
                for name in names:
                    carried.setdefault(call, {}).setdefault(name, reading)
        update = carried.get("update", {})
        walked = evidence.facts("carried")
        if walked:  # the losses' own graphs tell: what is detached on the way into a loss does no harm
            inside = {
                name for _, losses in walked for loss, names in losses.items() for name in names if _bad(loss, name)
            }
            guilty = {name: "gradients of the loss flow into it" for name in update if name in inside}
        else:
            guilty = {name: why for name in update if (why := _reason(evidence, name)) is not None}
        if guilty:
            yield self._report(
                evidence, "update", {name: update[name] for name in guilty}, "error",
                0.97 if all(guilty.values()) else 0.85, "; ".join(sorted(set(filter(None, guilty.values())))),
            )  # fmt: skip
        for call in ("rollout", "replay"):
            named = carried.get(call, {})
            data = {name: each for name, each in named.items() if call == "replay" or name not in _OUTPUTS}
            outputs = {name: each for name, each in named.items() if name not in data}
            if data:
                yield self._report(evidence, call, data, "warning", 0.8, "")
            elif outputs:
                yield self._report(evidence, call, outputs, "note", 0.9, "")

    def _report(
        self, run: Run, call: str, named: Mapping[str, Reading], severity: Severity, confidence: float, why: str
    ) -> Finding:
        names = ", ".join(named)
        first = min(named.values(), key=lambda each: each.update)
        are = "carries" if len(named) == 1 else "carry"
        return self.finding(
            f"{names} handed over as data {are} a graph",
            where=replace(run.call(call), update=first.update, env_step=first.env_step, tensor=names),
            seen=f"requires_grad is True for {names} in dbg.{call}(...)" + (f"; {why}" if why else ""),
            expected="tensors without a graph: gradients flow into predictions only",
            help=f"compute {names} under torch.no_grad(), or add .detach(); retain_graph=True only hides it",
            confidence=confidence,
            severity=severity,
        )


def _bad(loss: str, name: str) -> bool:
    """An actor loss of the SAC kind flows through the value on purpose, never through these."""
    return name in {"value": ("target",), "policy": ("advantage", "logp_old")}.get(loss, ("target", "advantage"))


def _reason(run: Run, name: str) -> str | None:
    """Why this argument of an update matters: a sentence, empty where nothing more is known; None if it does not."""
    if name == "advantage":
        return _advantage(run)
    if name == "target":
        return _target(run)
    if name == "logp_old" and "policy/log_ratio_absmax" in run and "policy/later_log_ratio" not in run:
        return None if run["policy/log_ratio_absmax"].max() == 0 else ""
    return None if name == "collected_at" else ""


def _target(run: Run) -> str | None:
    """From whether the value loss reaches the target network, where that asks for gradients at all."""
    entries = [reach["value"].get("target") for _, reach in run.facts("reach") if "value" in reach]
    entry: dict[str, Any] | None = entries[0] if entries else None
    if entry is None or not entry["of"]:
        return ""
    return f"the value loss reaches {entry['reached']} tensors of the target network" if entry["reached"] else None


def _advantage(run: Run) -> str | None:
    """From what the policy loss reaches: a critic, or the value head of a shared network, only by the advantage."""
    shared = any(value["shared"] for _, value in run.facts("parameters"))
    entries = [reach["policy"].get("critic") for _, reach in run.facts("reach") if "policy" in reach]
    if not entries:
        return ""
    critic: dict[str, Any] | None = entries[0]
    if critic is None or not critic["reached"] or (shared and critic["missing"]):
        return None
    return f"the policy loss reaches {critic['reached']} of {critic['of']} tensors of the critic"
