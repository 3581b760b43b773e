"""Intake: every layout a training loop may hand over, how it is arranged, and what is refused in which words."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Categorical, Independent, Normal, OneHotCategorical

from rldebug.handover import HandoverError, losses_of, rollout_of, signature, transitions_of, update_of
from rldebug.rollout import (
    Activations,
    Device,
    Episodes,
    GradientWindow,
    Pace,
    Pair,
    Rollout,
    Step,
    Transitions,
    Update,
    log_probs_of,
    norms,
)

T, B, N = 5, 3, 7


def rollout(**given):
    return rollout_of("dbg.rollout(...)", given)


def replay(**given):
    return transitions_of("dbg.replay(...)", given)


def update(**given):
    return update_of("dbg.update(...)", given)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def shapes(of) -> dict[str, tuple[int, ...]]:
    fields = {each.name: getattr(of, each.name) for each in dataclasses.fields(of)}
    return {name: tuple(each.shape) for name, each in fields.items() if isinstance(each, torch.Tensor)}


def refused(call, **given) -> str:
    with pytest.raises(HandoverError) as error:
        call(**given)
    text = str(error.value)
    assert text.startswith(("dbg.rollout(...): ", "dbg.replay(...): ", "dbg.update(...): "))
    assert "expected" in text
    return text.partition(": ")[2]


# ── rollouts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "arranged"),
    [
        # one environment
        ({"reward": zeros(T)}, {"reward": (T, 1)}),
        ({"reward": zeros(T, 1)}, {"reward": (T, 1)}),
        ({"reward": zeros(T, 1, 1)}, {"reward": (T, 1)}),
        ({"reward": zeros(T), "value": zeros(T, 1)}, {"reward": (T, 1), "value": (T, 1)}),
        ({"reward": zeros(T, 1), "value": zeros(T)}, {"reward": (T, 1), "value": (T, 1)}),
        ({"reward": zeros(T), "obs": zeros(T, 4)}, {"reward": (T, 1), "obs": (T, 1, 4)}),
        ({"reward": zeros(T, 1), "obs": zeros(T, 4)}, {"reward": (T, 1), "obs": (T, 1, 4)}),
        ({"reward": zeros(T, 1), "obs": zeros(T, 1, 4)}, {"reward": (T, 1), "obs": (T, 1, 4)}),
        ({"reward": zeros(T), "obs": zeros(T)}, {"reward": (T, 1), "obs": (T, 1)}),
        ({"reward": zeros(T), "obs": zeros(T, 1)}, {"reward": (T, 1), "obs": (T, 1, 1)}),
        ({"reward": zeros(T), "obs": zeros(T, 84, 84, 4)}, {"reward": (T, 1), "obs": (T, 1, 84, 84, 4)}),
        ({"reward": zeros(T, 1), "action": zeros(T)}, {"reward": (T, 1), "action": (T, 1)}),
        ({"reward": zeros(T), "action": zeros(T, 2)}, {"reward": (T, 1), "action": (T, 1, 2)}),
        # several
        ({"reward": zeros(T, B)}, {"reward": (T, B)}),
        ({"reward": zeros(T, B, 1), "value": zeros(T, B)}, {"reward": (T, B), "value": (T, B)}),
        ({"reward": zeros(T, B), "obs": zeros(T, B, 4)}, {"reward": (T, B), "obs": (T, B, 4)}),
        ({"reward": zeros(T, B), "action": zeros(T, B)}, {"reward": (T, B), "action": (T, B)}),
        ({"reward": zeros(T, B), "action": zeros(T, B, 2)}, {"reward": (T, B), "action": (T, B, 2)}),
        # any subset
        ({}, {}),
        ({"reward": None, "obs": None}, {}),
        ({"obs": zeros(T, 4)}, {"obs": (T, 1, 4)}),
        ({"logp": zeros(T, B)}, {"logp": (T, B)}),
        ({"terminated": zeros(T, B) > 0, "truncated": zeros(T, B)}, {"terminated": (T, B), "truncated": (T, B)}),
        # nothing happened yet
        ({"reward": zeros(0), "obs": zeros(0, 4)}, {"reward": (0, 1), "obs": (0, 1, 4)}),
        ({"reward": zeros(1, 1), "obs": zeros(1, 1, 4)}, {"reward": (1, 1), "obs": (1, 1, 4)}),
    ],
)
def test_rollouts_are_arranged_time_first_then_environment(given, arranged):
    assert shapes(rollout(**given)) == arranged
    as_tensors = {name: None if each is None else torch.from_numpy(np.asarray(each)) for name, each in given.items()}
    assert shapes(rollout(**as_tensors)) == arranged


@settings(deadline=None, max_examples=60)
@given(
    steps=st.integers(0, 4),
    envs=st.integers(1, 3),
    features=st.lists(st.integers(1, 3), max_size=3),
    extra=st.booleans(),
)
def test_no_number_changes_its_place(steps, envs, features, extra):
    """Entry [t, b] of what was handed over is entry [t, b] of what is kept."""
    per_step = np.arange(steps * envs, dtype=np.float32).reshape(steps, envs)
    obs = np.arange(steps * envs * math.prod(features)).reshape(steps, envs, *features)
    given = {"reward": per_step[..., None] if extra else per_step, "value": per_step + 0.5, "obs": obs}
    kept = rollout(**given)
    assert kept.reward.numpy().tolist() == per_step.tolist()
    assert kept.value.numpy().tolist() == (per_step + 0.5).tolist()
    assert kept.obs.numpy().tolist() == obs.tolist()
    if envs == 1:
        squeezed = rollout(reward=per_step[:, 0], value=per_step + 0.5, obs=obs[:, 0])
        assert squeezed.reward.tolist() == kept.reward.tolist()
        assert squeezed.obs.reshape(-1).tolist() == kept.obs.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"reward": 1.0}, "reward has shape (), expected (T,) or (T, B)"),
        ({"reward": zeros(T, B, 2)}, f"reward has shape ({T}, {B}, 2), expected (T,) or (T, B)"),
        ({"reward": zeros(T, B, 1, 1)}, f"reward has shape ({T}, {B}, 1, 1), expected (T,) or (T, B)"),
        (
            {"reward": zeros(T, B), "value": zeros(B, T)},
            f"value has shape ({B}, {T}) but reward has ({T}, {B}); expected the same (T,) or (T, B)",
        ),
        ({"reward": zeros(T), "value": zeros(T + 1)}, f"value has shape ({T + 1},) but reward has ({T},)"),
        ({"reward": zeros(T), "value": zeros(T, B)}, f"value has shape ({T}, {B}) but reward has ({T},)"),
        (
            {"reward": zeros(T, B), "obs": zeros(B, T, 4)},
            f"obs has shape ({B}, {T}, 4), expected it to start with ({T}, {B})",
        ),
        ({"reward": zeros(T, B), "obs": zeros(T + 1, B, 4)}, f"expected it to start with ({T}, {B})"),
        ({"reward": zeros(T, B), "obs": zeros(T * B, 4)}, f"expected it to start with ({T}, {B})"),
        (
            {"reward": zeros(T), "action": zeros(T - 1)},
            f"action has shape ({T - 1},), expected it to start with ({T},)",
        ),
        ({"obs": zeros(T, 4), "action": zeros(T + 2)}, "action has shape"),
        ({"obs": torch.tensor(1.0)}, "obs has shape ()"),
        ({"reward": zeros(T), "epsilon": torch.tensor(0.1)}, "epsilon is a Tensor, expected a plain number"),
        ({"reward": zeros(T), "epsilon": "0.1"}, "epsilon is a str, expected a plain number"),
        ({"logp": np.zeros(T, dtype=np.int64)}, "logp is torch.int64, expected floating-point log-probabilities"),
        ({"reward": np.zeros(T, dtype=np.complex64)}, "reward is torch.complex64, expected real numbers"),
        ({"obs": {"image": zeros(T, 4)}}, "obs is a dict, expected one tensor or array; hand over one of its entries"),
    ],
)
def test_what_a_rollout_cannot_be(given, told):
    assert told in refused(rollout, **given)


# ── kinds of numbers ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "reward",
    [
        [1.0, 2.0, 3.0],
        (1, 2, 3),
        range(1, 4),
        np.array([1, 2, 3], dtype=np.int8),
        np.array([1, 2, 3], dtype=np.float16),
        np.array([3.0, 2.0, 1.0])[::-1],
        np.array([1.0, 0.0, 2.0, 0.0, 3.0])[::2],
        torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16),
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        [torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0, requires_grad=True)],
        [torch.tensor(1.0), 2.0, torch.tensor(3.0)],
        [1.0, torch.tensor(2.0, requires_grad=True), 3.0],
        [torch.tensor(each, dtype=torch.bfloat16) for each in (1.0, 2.0, 3.0)],
        [np.float32(1), np.float32(2), np.float32(3)],
    ],
    ids=lambda each: type(each).__name__,
)
def test_numbers_of_any_kind(reward):
    kept = rollout(reward=reward).reward
    assert kept.reshape(-1).tolist() == [1.0, 2.0, 3.0]
    assert not kept.requires_grad


def test_read_only_memory_is_left_alone():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    assert rollout(reward=frozen).reward.reshape(-1).tolist() == [0.0, 1.0, 2.0]
    assert rollout(reward=np.broadcast_to(np.float32(2), (3,))).reward.reshape(-1).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_not_a_number_is_data_not_an_error(value):
    assert rollout(reward=[value], value=[value], logp=[value]).reward.numel() == 1
    assert update(loss={"policy": value}, value=[value], target=[value], kl=value).value.numel() == 1
    assert replay(reward=[value], obs=[[value]]).obs.shape == (1, 1)


@pytest.mark.parametrize(
    "odd",
    [
        "text",
        ["a", "b"],
        object(),
        [[1, 2], [3]],
        [{"x": 1}, {"x": 2}],
        [None, 1.0],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1.0, 2.0], dtype=object),
        lambda: 1,
        [torch.tensor(1.0), "a"],
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_no_number_at_all(odd):
    assert refused(rollout, reward=odd).startswith("reward ")
    assert refused(replay, reward=odd).startswith("reward ")
    assert refused(update, value=odd).startswith("value ")


def test_host_data_follows_data_on_a_device():
    kept = rollout(reward=zeros(T), value=torch.zeros(T, device="meta"), terminated=np.zeros(T, dtype=bool))
    assert {each.device.type for each in (kept.reward, kept.value, kept.terminated)} == {"meta"}


def test_data_on_two_devices_is_refused():
    class Elsewhere(torch.Tensor):
        @property
        def device(self):
            return torch.device("cuda:1")

        def detach(self):
            return self

    far = torch.zeros(T).as_subclass(Elsewhere)
    told = refused(rollout, reward=torch.zeros(T, device="meta"), value=far)
    assert told == "expected all tensors on one device, got reward on meta, value on cuda:1"


# ── replay ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "arranged"),
    [
        ({}, {}),
        ({"reward": zeros(N)}, {"reward": (N,)}),
        (
            {"reward": zeros(N, 1), "terminated": zeros(N), "truncated": zeros(N, 1)},
            {"reward": (N,), "terminated": (N,), "truncated": (N,)},
        ),
        (
            {"obs": zeros(N, 4), "next_obs": zeros(N, 4), "action": zeros(N)},
            {"obs": (N, 4), "next_obs": (N, 4), "action": (N,)},
        ),
        (
            {"obs": zeros(N, 84, 84, 4), "action": zeros(N, 2), "reward": zeros(N)},
            {"obs": (N, 84, 84, 4), "action": (N, 2), "reward": (N,)},
        ),
        ({"reward": zeros(1, 1)}, {"reward": (1,)}),
        ({"reward": zeros(0), "obs": zeros(0, 4)}, {"reward": (0,), "obs": (0, 4)}),
    ],
)
def test_replay_is_arranged_by_row(given, arranged):
    assert shapes(replay(**given)) == arranged


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"reward": zeros(N), "obs": zeros(N - 1, 4)}, f"obs has shape ({N - 1}, 4), expected {N} rows"),
        ({"obs": zeros(N, 4), "next_obs": zeros(N + 1, 4)}, f"next_obs has shape ({N + 1}, 4), expected {N} rows"),
        ({"reward": zeros(N, 2)}, f"reward has shape ({N}, 2), expected (N,)"),
        ({"reward": zeros(N), "terminated": zeros(N + 1)}, f"terminated has shape ({N + 1},) but reward has ({N},)"),
        ({"reward": 1.0}, "reward has shape (), expected (N,)"),
        ({"action": np.float32(1)}, "action has shape ()"),
        ({"obs": {"image": 1}}, "obs is a dict"),
    ],
)
def test_what_a_replay_batch_cannot_be(given, told):
    assert told in refused(replay, **given)


# ── updates ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_number_per_row_whatever_the_shape():
    kept = update(
        logp_old=zeros(N), logp_new=zeros(N, 1), value=zeros(1, N), target=torch.zeros(N), advantage=zeros(N), clip=0.2
    )
    assert shapes(kept) == dict.fromkeys(("logp_old", "logp_new", "value", "target", "advantage"), (N,))
    assert kept.clip == 0.2
    assert kept.rows == N
    assert update().rows is None
    assert update(logp_new=zeros(4)).rows == 4


def test_a_number_for_the_whole_batch_is_kept_as_one():
    kept = update(value=zeros(N), entropy=0.5, collected_at=3, kl=0.01)
    assert (kept.entropy.tolist(), kept.collected_at.tolist(), kept.kl.item()) == ([0.5], [3], pytest.approx(0.01))
    assert update(value=zeros(N), entropy=zeros(N)).entropy.shape == (N,)
    assert update(mask=np.ones((N, 4), dtype=bool)).mask.shape == (N, 4)


def test_predictions_keep_their_values_never_their_graph():
    weight = torch.ones(N, requires_grad=True)
    kept = update(value=weight * 2, logp_new=weight.log(), loss={"value": (weight * 2).sum()}, kl=weight.sum())
    assert kept.value.tolist() == [2.0] * N
    assert not any(each.requires_grad for each in (kept.value, kept.logp_new, kept.loss["value"], kept.kl))


def test_losses_keep_their_graph_until_their_reach_is_known():
    weight = torch.ones(2, requires_grad=True)
    kept = losses_of("dbg.update(...)", {"policy": weight.sum(), "value": None, "entropy": 0.5})
    assert kept["policy"].requires_grad
    assert set(kept) == {"policy", "entropy"}
    assert kept["entropy"].item() == 0.5


@pytest.mark.parametrize(
    ("loss", "names"),
    [
        (None, set()),
        (1.5, {"total"}),
        (torch.tensor(1.5), {"total"}),
        (torch.tensor([[1.5]]), {"total"}),
        (np.float32(1.5), {"total"}),
        ({"pi": 1, "vf": 2.0}, {"policy", "value"}),
        ({"actor": 1, "critic": 2.0, "alpha": 3}, {"policy", "value", "alpha"}),
        ({"pg": 1, "q": 2.0}, {"policy", "value"}),
    ],
)
def test_losses_by_the_names_people_use(loss, names):
    kept = update(loss=loss).loss
    assert set(kept) == names
    assert all(each.shape == () for each in kept.values())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"value": zeros(N), "target": zeros(N - 1)},
            f"target has shape ({N - 1},) but value has ({N},); expected one number per row, {N} rows",
        ),
        ({"logp_old": zeros(N), "advantage": zeros(N, N)}, f"advantage has shape ({N}, {N}) but logp_old has ({N},)"),
        ({"logp_old": zeros(N), "entropy": zeros(N - 2)}, f"entropy has shape ({N - 2},)"),
        ({"loss": zeros(N)}, "loss 'total' "),
        ({"loss": torch.zeros(N)}, f"loss 'total' has shape ({N},), expected a scalar; add .mean() or .sum()"),
        ({"loss": {"policy": torch.zeros(2, 2)}}, "loss 'policy' has shape (2, 2), expected a scalar"),
        ({"loss": "low"}, "loss 'total' is a str, expected a scalar"),
        ({"loss": [1.0, 2.0]}, "loss 'total' is a list, expected a scalar"),
        ({"loss": {"policy": torch.tensor(1j)}}, "loss 'policy' is torch.complex64, expected a real number"),
        (
            {"logp_new": np.zeros(N, dtype=np.int32)},
            "logp_new is torch.int32, expected floating-point log-probabilities",
        ),
        ({"dist": zeros(N, 2)}, "dist is a ndarray, expected a torch.distributions object"),
        ({"dist_old": "normal"}, "dist_old is a str, expected a torch.distributions object"),
        ({"clip": torch.tensor(0.2)}, "clip is a Tensor, expected a plain number"),
        ({"epsilon": [0.1]}, "epsilon is a list, expected a plain number"),
        ({"kl_limit": torch.tensor(0.01)}, "kl_limit is a Tensor, expected a plain number"),
        ({"logits": {"a": 1}}, "logits is a dict"),
        ({"kl": "small"}, "kl "),
    ],
)
def test_what_an_update_cannot_be(given, told):
    assert told in refused(update, **given)


def test_logits_are_a_distribution():
    kept = update(logits=zeros(N, 4))
    assert isinstance(kept.dist, Categorical)
    assert kept.row_entropy.tolist() == pytest.approx([math.log(4)] * N)
    mine = Categorical(logits=torch.zeros(N, 3))
    assert update(logits=zeros(N, 4), dist=mine).dist is mine
    assert update(logits=np.full((N, 4), math.nan)).dist is not None  # data, not an error


def test_context_comes_beside_what_was_handed_over():
    kept = update_of("dbg.update(...)", {"value": zeros(N)}, age=7, since_rollout=0, action_low=torch.zeros(2))
    assert (kept.age, kept.since_rollout, kept.action_low.tolist()) == (7, 0, [0.0, 0.0])


# ── what metrics share ──────────────────────────────────────────────────────────────────────────────────────────────


def test_ratios_and_entropies_are_what_they_say():
    kept = update(logp_old=[-1.0, -2.0], logp_new=[-1.0, -1.0])
    assert kept.log_ratio.tolist() == [0.0, 1.0]
    assert kept.ratio.tolist() == pytest.approx([1.0, math.e])
    forbidden = update(dist=Categorical(logits=torch.tensor([[0.0, 0.0, -math.inf]])))
    assert forbidden.row_entropy.tolist() == pytest.approx([math.log(2)])  # a forbidden action adds nothing


def test_log_probabilities_of_discrete_policies_only():
    logits = torch.tensor([[0.0, 1.0]], requires_grad=True)
    for dist in (Categorical(logits=logits), OneHotCategorical(logits=logits)):
        found = log_probs_of(dist)
        assert found.exp().sum(-1).tolist() == pytest.approx([1.0])
        assert not found.requires_grad
    assert log_probs_of(Independent(Categorical(logits=logits), 1)) is not None
    assert log_probs_of(Normal(0.0, 1.0)) is None
    assert log_probs_of(None) is None


def test_norms_one_by_one():
    assert norms([torch.tensor([3.0, 4.0]), torch.zeros(2, 2), torch.tensor([-2.0])]).tolist() == [5.0, 0.0, 2.0]
    assert norms([torch.tensor([3.0, -4.0])], order=math.inf).tolist() == [4.0]


def test_what_a_step_holds_is_computed_once():
    step = Step(
        "adam",
        ("w", "b"),
        [torch.zeros(2), torch.ones(1)],
        [torch.ones(2), torch.ones(1)],
        [torch.tensor([3.0, 4.0]), None],
        0.1,
    )
    assert len(step.present) == 1
    assert step.grad_norms.tolist() == [5.0]
    assert step.moved_norms.tolist() == pytest.approx([math.sqrt(2), 0.0])
    assert step.weight_norms is step.weight_norms


def test_calls_of_the_same_shapes_are_checked_once():
    first = signature({"reward": torch.zeros(3), "epsilon": 0.1, "obs": zeros(3, 4)})
    assert first == signature({"reward": torch.ones(3), "epsilon": 0.2, "obs": zeros(3, 4)})
    assert first != signature({"reward": torch.zeros(4), "epsilon": 0.1, "obs": zeros(3, 4)})
    assert first != signature({"value": torch.zeros(3), "epsilon": 0.1, "obs": zeros(3, 4)})
    hash(first)


def test_everything_that_flows_says_how_it_is_handed_over_and_stays_as_it_is():
    for kind in (Rollout, Transitions, Update, Step, GradientWindow, Activations, Episodes, Pace, Pair, Device):
        assert kind.handed_over_by
        assert kind.__dataclass_params__.frozen
