"""Soft update of a target network (Polyak averaging), and the hard one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from rldebug.oracles.material.made import SHAPES, SIZE, Net, flat_of, made, making, tensors_of
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats

_FIRST = int(np.prod(SHAPES[0]))
_WEIGHTS = np.concatenate([np.full(int(np.prod(shape)), len(shape) > 1) for shape in SHAPES])
_PARTS = {
    "first": np.arange(SIZE) < _FIRST,
    "all but the last": np.arange(SIZE) < SIZE - int(np.prod(SHAPES[-1])),
    "last": np.arange(SIZE) >= SIZE - int(np.prod(SHAPES[-1])),
    "weights": _WEIGHTS,
    "biases": ~_WEIGHTS,
    "first layer": np.arange(SIZE) < _FIRST + int(np.prod(SHAPES[1])),
    "last layer": np.arange(SIZE) >= _FIRST + int(np.prod(SHAPES[1])),
}


def reference(case: Case) -> Values:
    updated = [
        case["step"] * new + (1.0 - case["step"]) * old for old, new in zip(case["target"], case["source"], strict=True)
    ]
    pair = {"target": np.array(updated), "source": case["source"]}
    return {**pair, **_second(pair), "linked": np.zeros(()), "graph": np.zeros(())}


def _second(pair: Mapping[str, Array]) -> dict[str, Array]:
    """Of an actor and a critic, both are updated alike."""
    return {f"second_{name}": value for name, value in pair.items()}


def variant(
    case: Case,
    *,
    step: str = "given",  # given, inverted, whole, halved
    old: float | None = None,  # what the old target is multiplied by, where not by 1 − τ
    new: float | None = None,  # and the source, where not by τ
    away: bool = False,
    backwards: bool = False,  # the source becomes what the target should be
    part: str = "",  # only these parameters are updated
    nothing: bool = False,
    scaled: bool = False,  # the source is multiplied by τ in place
    linked: bool = False,
    graph: bool = False,
    missed: str = "",  # of two pairs of networks: first, second
) -> Values:
    tau = {"given": case["step"], "inverted": 1.0 - case["step"], "whole": 1.0}[step]
    target, source = floats(case["target"]), floats(case["source"])
    keep = 1.0 - tau if old is None else old
    take = tau if new is None else new
    if away:
        keep, take = 1.0 + tau, -tau
    if backwards:
        target, source = source, target
    updated: Array = keep * target + take * source
    if part:
        updated = np.where(_PARTS[part], updated, target)
    if nothing:
        updated = target
    if scaled:
        source = tau * source
    if backwards:
        updated, source = source, updated
    pair, before = {"target": updated, "source": source}, {"target": case["target"], "source": case["source"]}
    first, second = before if missed == "first" else pair, before if missed == "second" else pair
    flags = {"linked": np.asarray(float(linked)), "graph": np.asarray(float(graph))}
    return {**first, **_second(second), **flags}


def told(case: Case, bound: frozenset[str]) -> Case:
    """Without τ it is a hard update, unless the function has a number of its own; the smaller one is the step."""
    if {"tau", "keep"} & bound:
        return case
    if "tau" not in case.given and "keep" not in case.given:
        return case.but(step=1.0)
    own = case.given.get("tau", case.given.get("keep"))
    return case.but(step=min(own, 1.0 - own))


def build(case: Case) -> Mapping[str, Any]:
    target, source = Net(case["target"]), Net(case["source"])
    target.requires_grad_(False)
    things: dict[str, Any] = {
        "second target network": Net(case["target"]),
        "second source network": Net(case["source"]),
    }
    things["second target network"].requires_grad_(False)
    for name, net in (("target", target), ("source", source)):
        things[f"{name} network"] = net
        things[f"{name} parameters"] = list(net.parameters())
        things[f"{name} state"] = net.state_dict()
        things[f"{name} arrays"] = [each.detach().numpy().astype(np.float64) for each in net.parameters()]
        things[f"{name} vector"] = torch.as_tensor(case[name]).float()
    return things


def read(built: Mapping[str, Any], handed: frozenset[str], returned: Any) -> Any:
    seen: dict[str, Any] = {}
    things = {name.rpartition(" ")[0].replace(" ", "_"): built[name] for name in handed}
    if not {"target", "source"} <= things.keys():
        return returned
    for name, thing in things.items():
        seen[name] = flat_of(thing)
    before = flat_of(built["target vector"]) if "target vector" not in handed else None
    answer = flat_of(returned)
    unchanged = before is None or (seen["target"].shape == before.shape and np.allclose(seen["target"], before))
    if unchanged and answer is not None and answer.size == SIZE:
        seen["target"] = answer
        things["target"] = returned
    after, online = tensors_of(things["target"]), tensors_of(things["source"])
    where = {each.data_ptr() for each in online}
    seen["linked"] = float(any(each.data_ptr() in where for each in after))
    seen["graph"] = float(any(each.grad_fn is not None for each in after) and things["target"] is not returned)
    return seen


def adapt(target: Any) -> Any:
    return making(target, build, read, SOFT_UPDATE)


def cases() -> list[Case]:
    first = {"target": [0, 0, 0, 0, 0, 0, 0, 0, 0], "source": [1, 2, 3, 4, 5, 6, 7, 8, 9], "step": 0.25}
    second = {"target": [4, -4, 8, 0, 2, 6, -2, 1, 3], "source": [0, 8, 4, -4, 2, -2, 6, 5, -1], "step": 0.25}
    return [
        _case("a target of zeros", first),
        _case("two networks", second),
        _case("a small step", {**second, "step": 0.005}),
        _case("half of each", {**second, "step": 0.5}),
    ]


def _case(name: str, given: Mapping[str, Any]) -> Case:
    made_ = {"target": floats(given["target"]), "source": floats(given["source"]), "step": given["step"]}
    return Case(name, {**made_, "sizes": {"P": SIZE}})


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(-8, 8).map(float), min_size=SIZE, max_size=SIZE)
    step = draw(st.sampled_from([0.25, 0.5, 0.125, 0.75, 0.01]))
    return _case("networks drawn at random", {"target": draw(numbers), "source": draw(numbers), "step": step})


_BASE = (
    "net network model q_net qnet q_network q_model critic actor policy policy_net q qf q1 q2 qf1 qf2 v value "
    "value_net value_network ac agent module nn func pi mu actor_net critic_net critic1 critic2 actor_critic "
    "encoder critic_1 critic_2 dqn params parameters param weights state_dict variables vars theta w tensor "
    "values"
)
_BEFORE = "source src online local main current eval behavior behaviour learner live train primary base from"
_AIM = "target targ tgt lagged ema slow delayed old frozen shadow average averaged destination dest dst to momentum"
_USUAL = ("target", "targ")
_COMMON = ("net", "network", "model", "q_network", "critic", "actor", "params", "parameters", "param", "weights")
_NOT_NETWORKS = "params parameters param weights state_dict variables vars theta w tensor values"
_LISTS = tuple(_NOT_NETWORKS.split())


def _named(words: list[str], alone: list[str]) -> str:
    """The usual ones with all that networks are called, the others with the commonest."""
    pairs = [(word, base) for word in words for base in (_BASE.split() if word in _USUAL else _COMMON)]
    return " ".join([*words, *(f"{a}_{b}" for a, b in pairs), *(f"{b}_{a}" for a, b in pairs), *alone])


_SOURCE = _named(_BEFORE.split(), [*_BASE.split(), "new", "x", "source_net_params"])
_TARGET = _named(
    _AIM.split(), ["target_q_network_params", "y", "theta_target", "phi_target", "phi_targ", "q_tar", "tar", "q_targ"]
)


def _without(names: str) -> str:
    return " ".join(each for each in names.split() if not each.endswith(_LISTS))


def _pair(kind: str, names: tuple[str, str], which: str = "") -> tuple[Quantity, Quantity]:
    target, source = f"{which}target {kind}", f"{which}source {kind}"
    first = ("target network",) if which else ()
    return made(target, names[0], with_=(source, *first)), made(source, names[1], with_=(target, *first))


SOFT_UPDATE = Oracle(
    name="soft-update",
    aliases="polyak polyak-update target-update hard-update target-network",
    code="TGT100",
    summary="Soft update: the target network moves a share τ of the way to the online one, which stays as it is.",
    formula="θ' ← τ θ + (1 − τ) θ'",
    example="def soft_update(target, source, tau)",
    references="Lillicrap and others, *Continuous control with deep reinforcement learning*.",
    quantities=(
        *_pair("network", (_without(_TARGET), _without(_SOURCE))),
        *_pair("network", (_without(_TARGET), _without(_SOURCE)), "second "),
        *_pair("parameters", (_TARGET, _SOURCE)),
        *_pair("state", (_TARGET, _SOURCE)),
        *_pair("arrays", (_TARGET, _SOURCE)),
        *_pair("vector", (_TARGET, _SOURCE)),
        Quantity("tau", "tau soft_tau tau_ soft_target_tau target_tau soft_update_tau polyak_tau "
                        "soft_update_coefficient "
                 "target_update_tau interpolation step eps rate soft_update_rate alpha coef factor weight lr "
                 "update_rate mix "
                 "interpolation_factor interpolation_parameter target_network_update_rate beta amount fraction", "",
                 of=lambda case: case["step"], meaning="τ, the share of the online network"),
        Quantity("keep", "polyak rho decay ema_decay ema polyak_factor polyak_coef momentum target_ema keep retain "
                         "retention "
                 "polyak_weight alpha beta coef factor weight decay_rate smoothing", "",
                 of=lambda case: 1.0 - case["step"], meaning="1 − τ, the share of the old target"),
    ),
    outputs=(
        Output("target", "target", "P"), Output("source", "source", "P"),
        Output("linked", "linked"), Output("graph", "graph"),
        Output("second_target", "second_target", "P"), Output("second_source", "second_source", "P"),
    ),
    required=("target network|target parameters|target state|target arrays|target vector",),
    columns=("target", "source", "step"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    told=told,
    adapt=adapt,
    styles=(Style("usual"),),
    mistakes=(
        Mistake(
            "TGT101", "soft-update-no-effect", "The target network stays as it was.",
            knobs={"nothing": True},
            wrong="for p, t in zip(net.parameters(), target.parameters()): t = tau * p + (1 - tau) * t",
            right="for p, t in zip(net.parameters(), target.parameters()): t.data.copy_(tau * p.data + (1 - tau) * "
                  "t.data)",
            harm="The targets come from the untrained network for ever: values do not get beyond the first step.",
            fix="write into the target's tensors: t.data.copy_(…)",
            seen_in="thesouther/MARL issue 8: the target loads its own state dict.",
        ),
        Mistake(
            "TGT102", "soft-update-tau-inverted", "τ and 1 − τ are swapped: the target takes nearly all of the online "
                                                  "one.",
            knobs={"step": "inverted"},
            wrong="t.data.copy_((1 - tau) * p.data + tau * t.data)",
            right="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
            harm="The target follows the online network at once; values may diverge.",
            fix="multiply the online parameters by τ, the target's by 1 − τ",
            fine="Where τ is the share that is kept: call it polyak, or say `--map keep=tau`.",
        ),
        Mistake(
            "TGT103", "soft-update-backwards", "The online network is moved towards the target.",
            knobs=({"backwards": True}, {"backwards": True, "step": "inverted"}),
            wrong="p.data.copy_(tau * t.data + (1 - tau) * p.data)",
            right="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
            harm="What has been learned is taken back at every update, and the target never changes.",
            fix="write into the target; check the order of the arguments",
        ),
        Mistake(
            "TGT104", "soft-update-copies-all", "The whole online network is copied: τ has no effect.",
            knobs={"step": "whole"},
            wrong="target.load_state_dict(net.state_dict())",
            right="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
            harm="The target moves as fast as the online network; values may diverge.",
            fix="mix with τ",
            fine="Where it is called once in many steps.",
        ),
        Mistake(
            "TGT105", "soft-update-old-not-shrunk", "The old target is not multiplied by 1 − τ: it grows at each "
                                                    "update.",
            knobs={"old": 1.0},
            wrong="t.data.add_(tau * p.data)",
            right="t.data.mul_(1 - tau).add_(tau * p.data)",
            harm="The target's weights grow without bound.",
            fix="multiply the old target by 1 − τ before adding",
        ),
        Mistake(
            "TGT106", "soft-update-old-dropped", "The old target is dropped: only the online part is left.",
            knobs={"old": 0.0},
            wrong="t.data.copy_(tau * p.data)",
            right="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
            harm="The target is the online network made τ times smaller.",
            fix="add (1 − τ) times the old target",
        ),
        Mistake(
            "TGT107", "soft-update-source-not-scaled", "The online parameters are added whole, not multiplied by τ.",
            knobs={"new": 1.0},
            wrong="t.data.copy_(p.data + (1 - tau) * t.data)",
            right="t.data.copy_(tau * p.data + (1 - tau) * t.data)",
            harm="The target's weights grow to 1/τ times those of the online network.",
            fix="multiply the online parameters by τ",
        ),
        Mistake(
            "TGT108", "soft-update-moves-away", "The target moves away from the online network.",
            knobs={"away": True},
            wrong="t.data.add_(tau * (t.data - p.data))",
            right="t.data.add_(tau * (p.data - t.data))",
            harm="The target's weights grow without bound.",
            fix="swap the operands of the difference",
        ),
        Mistake(
            "TGT109", "soft-update-parameters-missed", "Some of the parameters are not updated.",
            knobs=tuple({"part": part} for part in _PARTS),
            wrong="target.fc1.weight.data.lerp_(net.fc1.weight.data, tau)",
            right="for p, t in zip(net.parameters(), target.parameters()): t.data.lerp_(p.data, tau)",
            harm="Part of the target stays as it was at the start; its outputs mean nothing.",
            fix="go through all parameters of both networks",
            seen_in="hill-a/stable-baselines, changelog 2.10.1: convolutions were not in the target's list.",
        ),
        Mistake(
            "TGT113", "soft-update-one-network-missed", "Of two target networks, only one is updated.",
            knobs=({"missed": "second"}, {"missed": "first"}),
            wrong="soft_update(self.critic, self.critic_target); soft_update(self.critic, self.critic_target)",
            right="soft_update(self.critic, self.critic_target); soft_update(self.actor, self.actor_target)",
            harm="One target stays as it was at the start: its outputs in the TD target mean nothing.",
            fix="update every target network",
            seen_in="kakaoenterprise/JORLDY issue 120: the target actor was never updated.",
        ),
        Mistake(
            "TGT110", "soft-update-scales-source", "The online network is multiplied by τ in place.",
            knobs={"scaled": True},
            wrong="t.data.mul_(1 - tau).add_(p.data.mul_(tau))",
            right="t.data.mul_(1 - tau).add_(p.data * tau)",
            harm="The online network shrinks at every update: it forgets all it has learned.",
            fix="use operations without _ on the online parameters",
        ),
        Mistake(
            "TGT111", "soft-update-shares-memory", "Afterwards both networks share the same memory.",
            knobs=({"linked": True}, {"linked": True, "step": "whole"}),
            wrong="t.data = p.data",
            right="t.data.copy_(p.data)",
            harm="From then on the target is the online network: it changes with every gradient step.",
            fix="copy the numbers with copy_ or load_state_dict",
            seen_in="datawhalechina/easy-rl issue 140: both networks were the same object.",
        ),
        Mistake(
            "TGT112", "soft-update-keeps-graph", "The target's parameters carry the graph of the update.",
            knobs={"graph": True},
            wrong="t.mul_(1 - tau).add_(tau * p)",
            right="with torch.no_grad(): t.mul_(1 - tau).add_(tau * p)",
            harm="Every update makes the graph longer: memory grows, and gradients reach the online network through "
                 "the target.",
            fix="update under torch.no_grad(), or use .data",
            fine="Where all calls are under torch.no_grad().",
        ),
    ),
)  # fmt: skip
