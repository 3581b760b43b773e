"""What the oracles of Q-learning share: small tables of action values, as arrays and as networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from rldebug.oracles.material.replayed import draw_rows, rows
from rldebug.oracles.material.replayed import remarks as flag_remarks
from rldebug.oracles.oracle import Array, Case, Quantity, Values, floats

# For three states and actions. No two are alike, and where the online values are highest, the target values are not.
Q = [[1.0, 6.0, 3.0], [5.0, 2.5, 7.0], [8.0, 4.0, 0.5]]
Q_OF_TARGET = [[2.0, 4.5, 5.5], [9.0, 1.5, 3.5], [6.5, 7.5, -2.0]]
NEXT_VALUES = [[4.0, 10.0, 2.0], [12.0, 6.0, 3.0], [5.0, 7.0, 9.0]]
NEXT_ONLINE = [[8.0, 1.0, 11.0], [3.0, 9.5, 2.0], [13.0, 4.0, 6.0]]
ACTIONS = [1, 2, 0]


class Table(nn.Module):
    """A network without hidden layers whose weights are action values: a one-hot observation picks its row.

    `weight.online` tells in a graph whose weights these are.
    """

    def __init__(self, table: Array, *, online: bool = False) -> None:
        super().__init__()
        self.online = online
        self.weight = nn.Parameter(torch.tensor(np.ascontiguousarray(table.T), dtype=torch.float32))
        self.weight.online = online  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return Table(self.weight.detach().numpy().T, online=self.online)

    def forward(self, observations: Any, *_: Any, **__: Any) -> torch.Tensor:
        rows_in = observations
        if not isinstance(observations, torch.Tensor):
            rows_in = torch.as_tensor(np.asarray(observations, dtype=np.float32))
        return nn.functional.linear(rows_in.float(), self.weight)

    def predict(self, observations: Any, *_: Any, **__: Any) -> Array:
        return np.asarray(self.forward(observations).detach().numpy())

    predict_on_batch = predict


def forward_of(target: Any) -> Callable[..., Any] | None:
    """A loss written as a torch module, or its class where that needs no arguments: what it does when it is called."""
    if isinstance(target, type) and issubclass(target, nn.Module):
        try:
            target = target()
        except TypeError:
            return None
    return target.forward if isinstance(target, nn.Module) else None


def observed(network: Any, returned: Any) -> Values | None:
    """A loss, and where the online network's weights are in its graph, their gradient. None: nothing is to be seen."""
    first = returned
    if isinstance(returned, Mapping):
        first = returned.get("loss", next(iter(returned.values()), None))
    elif isinstance(returned, tuple):
        first = next((each for each in returned if isinstance(each, torch.Tensor) and each.requires_grad), None)
    if not isinstance(first, torch.Tensor) or not first.dtype.is_floating_point:
        return None
    weights = [each for each in _leaves(first) if getattr(each, "online", False)]
    if not weights and (not isinstance(network, Table) or network.weight.grad is not None):
        return None
    if not weights:  # the network was handed over, and the loss does not depend on it
        return {"loss": first.detach().double().numpy(), "online_gradient": np.zeros(tuple(network.weight.T.shape))}
    try:
        slope = torch.autograd.grad(first.sum(), weights[0])[0]
    except RuntimeError:  # it went backward itself: what is left of the graph cannot tell
        return None
    return {"loss": first.detach().double().numpy(), "online_gradient": slope.T.double().numpy()}


def _leaves(tensor: torch.Tensor) -> list[Any]:
    found, seen, ahead = [], set(), [tensor.grad_fn]
    while ahead:
        node = ahead.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        ahead += [each for each, _ in node.next_functions]
    return found


class NoOptimizer:
    """Stands in for an optimizer: the loss is asked for, not the step."""

    param_groups = ()

    def zero_grad(self, *_: Any, **__: Any) -> None: ...

    def step(self, *_: Any, **__: Any) -> None: ...


def table_case(
    name: str, reward: Sequence[float], *, below: float = 0.0, actions: int | None = None, n: int = 3, **given: Any
) -> Case:
    """`below`: subtracted from all values. As many actions as rows, so that a wrong axis runs, and shows."""
    count = len(reward)
    width = max(count, 2) if actions is None else actions

    def cut(table: list[list[float]]) -> Array:
        return floats(table)[:count, :width] - below

    taken = np.minimum(np.asarray(ACTIONS[:count]), width - 1)
    return rows(
        name, reward, action=taken, n=n, double=False, q=cut(Q), q_of_target=cut(Q_OF_TARGET), next_q=cut(NEXT_VALUES),
        next_q_online=cut(NEXT_ONLINE), weight=floats([0.5, 2.0, 1.5])[:count], **given,
    )  # fmt: skip


def cases() -> list[Case]:
    return [
        table_case("one row", [3]),
        table_case("one row that terminates", [3], terminated=[1]),
        table_case("one row that is cut off", [3], truncated=[1]),
        table_case("one row, values below zero", [-2], below=15.0, gamma=0.75),
        table_case("two rows", [3, -2]),
        table_case("two rows, the first terminates", [3, -2], terminated=[1, 0]),
        table_case("three rows", [3, -2, 5]),
        table_case("three rows, the second terminates", [3, -2, 5], terminated=[0, 1, 0]),
        table_case("three rows, values below zero", [3, -2, 5], terminated=[0, 0, 1], below=15.0),
        table_case("three rows, all terminate", [3, -2, 5], terminated=[1, 1, 1]),
        table_case("three rows, the first is cut off", [3, -2, 5], truncated=[1, 0, 0]),
        table_case("three rows, one cut off, one terminated", [3, -2, 5], truncated=[0, 1, 0], terminated=[0, 0, 1]),
        table_case("three rows, γ = 1", [3, -2, 5], gamma=1.0, n=2),
    ]  # fmt: skip


def drawn(draw: Any) -> Case:
    """With Hypothesis. Values of a row are all different: where two are best, either may be chosen."""
    from hypothesis import strategies as st

    given = draw_rows(draw)
    count, width = len(given["reward"]), draw(st.integers(2, 4))

    def table() -> Array:
        row = st.lists(st.integers(-6, 6), min_size=width, max_size=width, unique=True)
        return floats(draw(st.lists(row, min_size=count, max_size=count)))

    taken = draw(st.lists(st.integers(0, width - 1), min_size=count, max_size=count))
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=count, max_size=count))
    more = {"q": table(), "q_of_target": table(), "next_q": table(), "next_q_online": table(), "double": False}
    more |= {"action": np.asarray(taken), "n": draw(st.integers(1, 3)), "weight": floats(weight)}
    return Case("drawn at random", {**given, **more}, edge=count == 1)


def told(case: Case, bound: frozenset[str]) -> Case:
    """Without n, rewards are of one step; with one network or array only, that is both; with a choice handed over,
    the target is to be double."""
    changed: dict[str, Any] = {}
    if "n" not in bound:
        changed["n"] = 1
    if "weight" not in bound:
        changed["weight"] = np.ones(len(case["reward"]))
    if not bound & {"target_net", "next_q", "next_best_q"} and bound & {"q_net", "next_q_online"}:
        changed |= {"next_q": case["next_q_online"], "q_of_target": case["q"]}
    elif "target_net" not in bound and "q_net" not in bound:
        changed["q_of_target"] = case["q"]
    if "q_net" not in bound and "q" not in bound and "target_net" in bound:
        changed["q"] = case["q_of_target"]
    if not bound & {"q_net", "next_q_online", "next_action"}:
        changed["next_q_online"] = case["next_q"]
    if "next_action" in bound or {"next_q_online", "next_q"} <= bound:
        changed["double"] = True
    return case.but(**changed) if changed else case


def remarks(bound: frozenset[str]) -> list[str]:
    said = flag_remarks(bound)
    if "q_net" in bound and not bound & {"target_net", "next_q", "next_best_q"}:
        said.append("it takes one network: without a target network, the targets move with every update")
    return said


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the networks that were handed over say of the observations that were."""
    found: dict[str, Any] = {}
    for name, network, observations in (
        ("next_q", "target_net", "next_obs"), ("next_q_online", "q_net", "next_obs"), ("q", "q_net", "obs"),
    ):  # fmt: skip
        if name not in given and network in given and observations in given:
            with torch.no_grad():
                said = given[network](torch.as_tensor(np.asarray(given[observations]), dtype=torch.float32))
            found[name] = floats(said.detach().cpu().numpy() if isinstance(said, torch.Tensor) else said)
    return found


def completed(given: Mapping[str, Any], known: Mapping[str, Any]) -> Case:
    """A case from what a program handed over. Raises KeyError where the values of the next states are not among it."""
    handed, given = given, {**given, **_asked(given)}
    next_q = given["next_q"] if "next_q" in given else given.get("next_best_q", given.get("next_q_online"))
    if next_q is None:
        raise KeyError("next_q")
    next_q = floats(next_q)
    next_q = next_q[:, None] if next_q.ndim == 1 else next_q
    if next_q.ndim != 2:
        raise KeyError("next_q")
    online = given.get("next_q_online")
    if online is None and "next_action" in given:
        online = np.eye(next_q.shape[1])[np.asarray(given["next_action"], dtype=int)]
    q = floats(given.get("q", next_q))
    return Case(
        "from the program",
        {
            **known, "next_q": next_q, "next_q_online": next_q if online is None else floats(online), "q": q,
            "q_of_target": q, "double": "next_action" in given or {"next_q_online", "next_q"} <= set(handed),
            "action": np.asarray(given.get("action", np.zeros(len(next_q))), dtype=int),
            "weight": floats(given.get("weight", np.ones(len(next_q)))),
        },
    )  # fmt: skip


def _one_hot(case: Case, first: int) -> Array:
    count = len(case["reward"])
    return np.eye(2 * count)[first * count : (first + 1) * count]


_OBS = "obs observation observations state states s o ob obs_t s_t state_t x frames frame"
_NEXT_OBS = (
    "next_obs next_observation next_observations next_state next_states new_obs new_state new_states s2 o2 obs2 s_next "
    "obs_next s_prime state_prime s_p ns n_obs state_ states_ s_ next_s obs_tp1 s_tp1 next_ob obs_ s1 new_s next_x "
    "next_frames new_observations observations_next states_next"
)

OBSERVATIONS: tuple[Quantity, ...] = (
    Quantity("obs", _OBS, "ND", of=lambda case: _one_hot(case, 0), meaning="s"),
    Quantity("next_obs", _NEXT_OBS, "ND", of=lambda case: _one_hot(case, 1), meaning="s′"),
    Quantity("non_final_next_obs", "non_final_next_states non_final_next_obs non_final_next_state", None,
             of=lambda case: torch.tensor(_one_hot(case, 1)[~case["done"]], dtype=torch.float32),
             meaning="s′ of the rows that ended no episode"),
)  # fmt: skip

NETWORKS: tuple[Quantity, ...] = (
    Quantity("q_net", "q_net q_network qnet q_nets qnetwork policy_net policy_network policy online_net online_network "
             "online model net network main_net main_network main_model local_net local_network qnetwork_local "
             "q_network_local q_local critic current_model current_net dqn eval_net q_eval evaluate_net agent_net "
             "online_model q_online q_func qf q_function q_model q behavior_net behaviour_net policy_model dqn_net "
             "value_net predict_net q_policy training_net train_net qnet_local local online_q_net "
             "get_q_values get_qvalues neural_network q_table value_network", None, "object",
             of=lambda case: Table(np.concatenate([case["q"], case["next_q_online"]]), online=True),
             meaning="the online network"),
    Quantity("target_net", "target_net target_network q_net_target target_q_net target_q_network q_target target_model "
             "target qnetwork_target q_network_target target_qnet qnet_target target_q q_target_net tgt_net tgt "
             "target_critic fixed_net old_net target_dqn target_policy_net net_target model_target targets_net "
             "q_target_network target_func target_qf qf_target critic_target policy_target model_old target_policy "
             "q_next tgt_network target_q_func q_tgt network_target dqn_target "
             "q_targ q_tar qf_targ target_agent copy_network copy_net frozen_net lagged_net model_lag old_model "
             "target_value_net "
             "get_target_q_values", None, "object",
             of=lambda case: Table(np.concatenate([case["q_of_target"], case["next_q"]])),
             meaning="the target network"),
)  # fmt: skip

_NEXT_NAMES = (
    "next_q next_qs next_q_values next_q_value next_q_vals q_next q_next_values q_values_next q_tp1 next_qvals "
    "next_qvalues q_prime next_state_q next_state_q_values q_t q_t_value next_state_values q_next_state qs_next "
    "next_target_q target_next_q target_q_next next_q_target next_q_targets q_target_next q_next_target target_q "
    "target_qs target_q_values target_next_q_values next_target_q_values next_q_tgt tgt_next_q q_values_target_next "
    "next_q_values_target target_qvalues q_targ q_target future_qs future_q next_action_values q_tp1_target "
    "next_target_qs target_next_qs q_sp next_values next_value q_values_of_next_states"
)
_BEST_NAMES = (
    "next_best_q next_max_q max_next_q next_q_max max_q next_max max_next_q_values max_q_next q_max next_state_value "
    "next_v next_value next_values next_state_values target_max max_next next_state_max max_future_q best_next_q "
    "q_next_max max_target_q target_q_max maxq next_q next_q_value next_q_values next_state_q v_next next_qval"
)

NEXT_Q: tuple[Quantity, ...] = (
    Quantity("next_q", _NEXT_NAMES, "NA", meaning="Q_target(s′, ·)"),
    Quantity("next_q_online", "next_q_online online_next_q next_q_local next_q_policy next_q_main q_next_online "
             "next_online_q online_q_next next_q_eval q_eval_next q_t_selector next_q_values_online "
             "online_next_q_values next_qs_online next_online_qs q_online_next online_next_qs next_q_values_policy "
             "next_q_net next_q_current q_tp1_online next_online_q_values q_next_policy next_q_local_values q_online "
             "online_q online_q_values next_q_selector", "NA", meaning="Q(s′, ·)"),
    Quantity("next_best_q", _BEST_NAMES, "N", of=lambda case: case["next_q"].max(axis=1),
             meaning="the best of Q_target(s′, ·)"),
    Quantity("next_action", "next_action next_actions best_actions best_action next_a argmax_actions greedy_actions "
             "best_next_actions next_acts best_next_action a_star selected_actions max_actions", "N", "int",
             of=lambda case: case["next_q_online"].argmax(axis=1), meaning="argmax Q(s′, ·)"),
)  # fmt: skip

ACTION = Quantity("action", "action actions a act acts action_t a_t a_tm1 taken action_index action_indices", "N",
                  "int", meaning="the action taken")  # fmt: skip
