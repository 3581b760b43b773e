"""Intake and output for every kind of space, beside Gymnasium's own flattening and plain loops."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate
from torch import nn

from rldebug.parts.distributions import Categorical, Gaussian, Joint, SquashedGaussian
from rldebug.parts.heads import LOG_STD_MAX, LOG_STD_MIN, Intake, Output, as_tensor, is_image, mlp

ROWS = 4
FLAT = {
    "vector": spaces.Box(-1, 1, (3,)),
    "float64 vector": spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "number": spaces.Box(-1, 1, ()),
    "matrix": spaces.Box(-1, 1, (2, 3)),
    "cube": spaces.Box(-1, 1, (2, 3, 4)),
    "int vector": spaces.Box(-5, 5, (3,), np.int16),
    "discrete": spaces.Discrete(5),
    "discrete from 2": spaces.Discrete(5, start=2),
    "discrete from −1": spaces.Discrete(3, start=-1),
    "multi-discrete": spaces.MultiDiscrete([2, 4]),
    "multi-discrete with start": spaces.MultiDiscrete([2, 4], start=[10, -3]),
    "multi-discrete matrix": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "multi-binary": spaces.MultiBinary(3),
    "multi-binary matrix": spaces.MultiBinary((2, 3)),
    "dict": spaces.Dict({"b.c": spaces.Discrete(3), "a": spaces.Box(-1, 1, (2,))}),
    "tuple": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
    "nested": spaces.Dict(
        {
            "inner": spaces.Dict(
                {"x": spaces.MultiBinary(2), "y": spaces.Tuple((spaces.Discrete(2), spaces.Discrete(4)))}
            ),
            "outer": spaces.Tuple((spaces.Box(-1, 1, (2, 2)), spaces.MultiDiscrete([2, 2]))),
        }
    ),
}
IMAGES = {
    "channels first": spaces.Box(0, 255, (4, 84, 84), np.uint8),
    "channels last": spaces.Box(0, 255, (84, 84, 4), np.uint8),
    "grey": spaces.Box(0, 255, (84, 84), np.uint8),
    "colour": spaces.Box(0, 255, (40, 60, 3), np.uint8),
    "small": spaces.Box(0, 255, (7, 7, 3), np.uint8),
    "tiny": spaces.Box(0, 2, (3, 3), np.uint8),
    "scaled": spaces.Box(0, 1, (4, 36, 36), np.float32),
}


def batch(space, rows=ROWS, seed=0):
    many = batch_space(space, rows)
    many.seed(seed)
    return many.sample()


def flattened(space, obs):
    """Row by row, by Gymnasium."""
    return np.stack([spaces.flatten(space, each) for each in iterate(batch_space(space, ROWS), obs)]).astype(np.float32)


# ── as_tensor ──


@pytest.mark.parametrize(
    ("space", "dtype"),
    [
        (FLAT["vector"], torch.float32),
        (FLAT["float64 vector"], torch.float32),
        (FLAT["int vector"], torch.float32),
        (FLAT["discrete"], torch.int64),
        (FLAT["multi-discrete"], torch.int64),
        (FLAT["multi-binary"], torch.float32),
        (IMAGES["channels first"], torch.uint8),
        (IMAGES["grey"], torch.uint8),
        (IMAGES["scaled"], torch.float32),
        (spaces.Box(0, 255, (128,), np.uint8), torch.float32),
    ],
    ids=str,
)
def test_as_tensor_has_the_values_and_the_dtype(space, dtype):
    obs = batch(space)
    tensor = as_tensor(space, obs)
    assert tensor.dtype == dtype
    np.testing.assert_allclose(tensor.numpy(), obs, rtol=1e-6)
    again = as_tensor(space, tensor)
    assert again.dtype == dtype
    assert again.equal(tensor)
    assert as_tensor(space, obs, torch.device("cpu")).equal(tensor)


def test_as_tensor_keeps_the_structure():
    space = FLAT["nested"]
    obs = batch(space)
    tensors = as_tensor(space, obs)
    np.testing.assert_array_equal(tensors["inner"]["y"][1].numpy(), obs["inner"]["y"][1])
    np.testing.assert_array_equal(tensors["outer"][0].numpy(), obs["outer"][0])
    assert isinstance(tensors["outer"], tuple)


@pytest.mark.parametrize("name", ["vector", "matrix"])
def test_as_tensor_does_not_copy_what_is_float32_already(name):
    obs = batch(FLAT[name])
    tensor = as_tensor(FLAT[name], obs)
    obs[0] = 0.25
    assert (tensor[0] == 0.25).all()


def test_as_tensor_does_not_copy_images():
    obs = batch(IMAGES["grey"])
    assert np.shares_memory(as_tensor(IMAGES["grey"], obs).numpy(), obs)


@pytest.mark.parametrize("given", ["read-only", "flipped", "float64", "not contiguous", "a list", "time and batch"])
def test_as_tensor_takes_arrays_of_any_make(given):
    plain = np.arange(12, dtype=np.float32).reshape(4, 3)
    obs = {
        "read-only": np.broadcast_to(plain, plain.shape),
        "flipped": plain[::-1, ::-1],
        "float64": plain.astype(np.float64),
        "not contiguous": np.asfortranarray(plain),
        "a list": plain.tolist(),
        "time and batch": plain.reshape(2, 2, 3),
    }[given]
    np.testing.assert_array_equal(as_tensor(FLAT["vector"], obs).numpy(), np.asarray(obs))


def test_as_tensor_refuses_what_is_not_of_the_space():
    with pytest.raises(ValueError, match=r"shape \(4, 2\), expected \(batch, \*\(3,\)\)"):
        as_tensor(FLAT["vector"], np.zeros((4, 2), np.float32))
    with pytest.raises(ValueError, match=r"needs a batch dimension, obs\[None\]"):
        as_tensor(FLAT["vector"], np.zeros(3, np.float32))
    with pytest.raises(ValueError, match=r"needs a batch dimension, obs\[None\]"):
        as_tensor(FLAT["discrete"], 3)
    with pytest.raises(ValueError, match=r"shape \(3,\), expected"):
        as_tensor(FLAT["vector"], torch.zeros(3))


# ── Intake ──


@pytest.mark.parametrize("name", FLAT)
def test_the_encoding_is_what_gymnasium_flattens_to(name):
    space = FLAT[name]
    obs = batch(space)
    intake = Intake(space, hidden=())
    encoded = intake(as_tensor(space, obs))
    assert encoded.shape == (ROWS, intake.width)
    np.testing.assert_allclose(encoded.numpy(), flattened(space, obs), rtol=1e-6)


@pytest.mark.parametrize("name", FLAT)
def test_time_and_batch_together(name):
    space = FLAT[name]
    intake = Intake(space)
    obs = as_tensor(space, batch(space))
    twice = as_tensor(space, _map(lambda each: np.stack([each, each]), batch(space)))
    torch.testing.assert_close(intake(twice)[1], intake(obs))


def _map(change, nested):
    if isinstance(nested, dict):
        return {name: _map(change, each) for name, each in nested.items()}
    return tuple(_map(change, each) for each in nested) if isinstance(nested, tuple) else change(nested)


def test_the_mlp_after_the_encoding():
    torch.manual_seed(0)
    intake = Intake(FLAT["vector"], hidden=(5, 7), activation=nn.ReLU, gain=2.0)
    assert intake.width == 7
    x = as_tensor(FLAT["vector"], batch(FLAT["vector"]))
    linear = [each for each in intake.modules() if isinstance(each, nn.Linear)]
    expected = (x @ linear[0].weight.T).relu()
    expected = (expected @ linear[1].weight.T).relu()
    torch.testing.assert_close(intake(x), expected)
    columns = linear[1].weight.T @ linear[1].weight  # 7 × 5: the columns are orthogonal
    torch.testing.assert_close(columns, 4 * torch.eye(5), rtol=0, atol=1e-5)
    assert all((each.bias == 0).all() for each in linear)


def test_a_plain_vector_costs_no_more_modules_than_a_sequential():
    kinds = [type(each).__name__ for each in Intake(FLAT["vector"]).modules()]
    assert kinds == ["Intake", "Sequential", "Linear", "Tanh", "Linear", "Tanh"]


def test_bytes_are_scaled_by_their_bound():
    memory = spaces.Box(0, 255, (8,), np.uint8)
    obs = batch(memory)
    np.testing.assert_allclose(Intake(memory, hidden=())(as_tensor(memory, obs)), obs / 255, rtol=1e-6)
    flags = spaces.Box(0, 1, (8,), np.uint8)
    np.testing.assert_array_equal(Intake(flags, hidden=())(as_tensor(flags, batch(flags))), batch(flags))


@pytest.mark.parametrize("name", IMAGES)
def test_images_become_rows(name):
    space = IMAGES[name]
    intake = Intake(space, hidden=(10,))
    obs = as_tensor(space, batch(space))
    features = intake(obs)
    assert features.shape == (ROWS, intake.width) == (ROWS, 10)
    features.sum().backward()
    assert all(each.grad.abs().sum() > 0 for each in intake.parameters() if each.ndim > 1)
    torch.testing.assert_close(intake(obs.reshape(2, 2, *space.shape)), features.reshape(2, 2, 10))


def convolved(image, weight, bias, stride):
    """By the definition, pixel by pixel; channels first."""
    size = weight.shape[-1]
    height, width = ((side - size) // stride + 1 for side in image.shape[1:])
    out = np.zeros((len(weight), height, width))
    for y in range(height):
        for x in range(width):
            window = image[:, y * stride : y * stride + size, x * stride : x * stride + size]
            out[:, y, x] = (weight * window).sum((1, 2, 3)) + bias
    return np.maximum(out, 0)


def test_the_layers_of_an_image_as_defined():
    space = spaces.Box(0, 255, (2, 36, 36), np.uint8)
    intake = Intake(space, hidden=())
    obs = batch(space, 1)
    layers = [each for each in intake.modules() if isinstance(each, (nn.Conv2d, nn.Linear))]
    for layer in layers:
        nn.init.normal_(layer.bias, std=0.1)
    parameters = [[each.detach().double().numpy() for each in (layer.weight, layer.bias)] for layer in layers]
    x = obs[0] / 255.0
    for (weight, bias), stride in zip(parameters[:3], (4, 2, 1), strict=True):
        x = convolved(x, weight, bias, stride)
    expected = np.maximum(parameters[3][0] @ x.reshape(-1) + parameters[3][1], 0)
    assert intake.width == 512
    np.testing.assert_allclose(intake(as_tensor(space, obs))[0].detach(), expected, rtol=1e-3, atol=1e-4)


def test_channels_are_found_on_either_side():
    first, last = Intake(IMAGES["channels first"]), Intake(IMAGES["channels last"])
    last.load_state_dict(first.state_dict())
    obs = torch.from_numpy(batch(IMAGES["channels first"]))
    torch.testing.assert_close(last(obs.permute(0, 2, 3, 1)), first(obs))


def test_the_weights_of_convolutions_can_be_flattened():
    intake = Intake(IMAGES["channels first"])
    intake(torch.from_numpy(batch(IMAGES["channels first"]))).sum().backward()
    for each in intake.parameters():
        assert each.view(-1).shape == each.grad.view(-1).shape


def test_what_counts_as_an_image():
    assert all(is_image(space) for space in IMAGES.values())
    assert not any(is_image(space) for space in FLAT.values())
    assert not is_image(spaces.Box(0, 255, (128,), np.uint8))


def test_images_and_vectors_side_by_side():
    space = spaces.Dict({"camera": IMAGES["small"], "speed": spaces.Box(-1, 1, (2,))})
    intake = Intake(space, hidden=())
    obs = batch(space)
    features = intake(as_tensor(space, obs))
    assert features.shape == (ROWS, 128 + 2)
    np.testing.assert_array_equal(features[:, 128:].detach(), obs["speed"])


@pytest.mark.parametrize(
    ("space", "reason"),
    [
        (spaces.Text(5), "no fixed length"),
        (spaces.Sequence(spaces.Discrete(3)), "no fixed length"),
        (spaces.Graph(spaces.Discrete(3), None), "no fixed number of nodes"),
        (spaces.OneOf((spaces.Discrete(2), spaces.Discrete(3))), "not known here"),
    ],
    ids=["text", "sequence", "graph", "one-of"],
)
def test_spaces_without_a_size_are_refused_with_the_reason(space, reason):
    for attempt in (
        lambda: Intake(space),
        lambda: Output(space, 8),
        lambda: as_tensor(space, np.zeros(3)),
        lambda: Intake(spaces.Dict({"inside": space})),
    ):
        with pytest.raises(TypeError, match=reason):
            attempt()


def test_values_outside_the_space_are_refused():
    intake = Intake(spaces.MultiDiscrete([2, 4], start=[0, 1]))
    intake(torch.tensor([[1, 4]]))
    for wrong in ([[2, 1]], [[0, 0]], [[0, 5]]):
        with pytest.raises(ValueError, match=r"expected integers from \[0, 1\] to \[1, 4\]"):
            intake(torch.tensor(wrong))
    with pytest.raises(ValueError, match=r"shape \(4, 84, 84, 3\), expected \(batch, \*\(4, 84, 84\)\)"):
        Intake(IMAGES["channels first"])(torch.zeros(4, 84, 84, 3, dtype=torch.uint8))


# ── Output ──

ACTIONS = {
    "discrete": (spaces.Discrete(4, start=1), None, Categorical),
    "multi-discrete": (spaces.MultiDiscrete([3, 3]), None, Categorical),
    "multi-discrete, unequal": (spaces.MultiDiscrete([2, 5, 3]), None, Categorical),
    "multi-discrete matrix": (spaces.MultiDiscrete([[2, 3], [4, 5]]), None, Categorical),
    "multi-binary": (spaces.MultiBinary(3), None, Categorical),
    "multi-binary matrix": (spaces.MultiBinary((2, 3)), None, Categorical),
    "gaussian": (spaces.Box(-1, 2, (3,)), None, Gaussian),
    "gaussian number": (spaces.Box(-1, 2, ()), "gaussian", Gaussian),
    "gaussian matrix, unbounded": (spaces.Box(-np.inf, np.inf, (2, 3)), None, Gaussian),
    "squashed": (spaces.Box(-1, 2, (3,)), "squashed", SquashedGaussian),
    "squashed number": (spaces.Box(-1, 2, ()), "squashed", SquashedGaussian),
    "squashed float64 matrix": (spaces.Box(-1, 2, (2, 3), np.float64), "squashed", SquashedGaussian),
    "dict": (spaces.Dict({"go": spaces.Discrete(3), "aim": spaces.Box(-1, 1, (2,))}), "squashed", Joint),
    "nested": (spaces.Tuple((spaces.Discrete(2), spaces.Dict({"a": spaces.MultiBinary(2)}))), None, Joint),
}


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize("zero", [True, False], ids=["zero", "small"])
def test_a_distribution_for_every_action_space(name, zero):
    torch.manual_seed(0)
    space, kind, expected = ACTIONS[name]
    output = Output(space, 16, kind=kind, zero=zero)
    dist = output(torch.randn(ROWS, 16))
    assert type(dist) is expected
    action = dist.sample()
    assert dist.log_prob(action).shape == dist.entropy().shape == dist.kl(dist.detach()).shape == (ROWS,)
    assert batch_space(space, ROWS).contains(dist.to_env(action))
    assert batch_space(space, ROWS).contains(dist.to_env(dist.mode()))
    (dist.log_prob(action) ** 2).sum().backward()
    for name, parameter in output.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    again = output(torch.randn(2, 3, 16))
    assert again.log_prob(again.sample()).shape == (2, 3)


@pytest.mark.parametrize("name", [name for name, (*_, kind) in ACTIONS.items() if kind is Categorical] + ["nested"])
def test_a_zero_last_layer_starts_with_the_most_entropy_there_is(name):
    space, kind, _ = ACTIONS[name]
    features = torch.randn(ROWS, 16)
    start = Output(space, 16, kind=kind)(features)
    torch.testing.assert_close(start.entropy(), torch.full((ROWS,), start.max_entropy))
    assert (Output(space, 16, kind=kind, zero=False)(100 * features).entropy() < start.max_entropy - 1e-4).all()


@pytest.mark.parametrize("kind", ["gaussian", "squashed"])
@pytest.mark.parametrize("zero", [True, False], ids=["zero", "small"])
def test_where_numbers_start(kind, zero):
    dist = Output(spaces.Box(-1, 2, (3,)), 16, kind=kind, zero=zero, log_std=-0.7)(torch.randn(ROWS, 16))
    assert dist.mean.abs().max() < (1e-9 if zero else 0.5)
    torch.testing.assert_close(dist.log_std, torch.full_like(dist.log_std, -0.7), atol=1e-9 if zero else 0.5, rtol=0)
    assert dist.log_std.shape == ((3,) if kind == "gaussian" else (ROWS, 3))


def test_the_log_std_of_squashed_actions_stays_within_limits():
    output = Output(spaces.Box(-1, 1, (2,)), 4, kind="squashed", zero=False)
    nn.init.constant_(output.head.linear.weight, 1000.0)
    high, low = output(torch.ones(1, 4)), output(-torch.ones(1, 4))
    assert (high.log_std == LOG_STD_MAX).all()
    assert (low.log_std == LOG_STD_MIN).all()


def test_asymmetrical_bounds_are_reached_and_kept():
    space = spaces.Box(np.array([-1, 0, 5], np.float32), np.array([3, 0.1, 6], np.float32))
    output = Output(space, 4, kind="squashed")
    nn.init.constant_(output.head.linear.weight[:3], 100.0)
    dist = output(torch.tensor([[1.0] * 4, [-1.0] * 4]))
    np.testing.assert_array_equal(dist.to_env(dist.mode()), np.stack([space.high, space.low]))


def test_choices_of_unequal_numbers_do_not_mix():
    """Each component beside a softmax of its own slice of the layer."""
    space = spaces.MultiDiscrete([2, 5, 3])
    output = Output(space, 16, zero=False)
    nn.init.normal_(output.head.linear.weight)
    features = torch.randn(ROWS, 16)
    dist, row = output(features), output.head.linear(features)
    action = torch.tensor([[1, 4, 2], [0, 0, 0], [1, 2, 1], [0, 3, 2]])
    expected = torch.zeros(ROWS)
    entropy = torch.zeros(ROWS)
    for i, (start, size) in enumerate([(0, 2), (2, 5), (7, 3)]):
        log_probs = row[:, start : start + size].log_softmax(-1)
        expected += log_probs[torch.arange(ROWS), action[:, i]]
        entropy -= (log_probs.exp() * log_probs).sum(-1)
    torch.testing.assert_close(dist.log_prob(action), expected)
    torch.testing.assert_close(dist.entropy(), entropy)
    for _ in range(100):
        assert (dist.sample() < torch.tensor([2, 5, 3])).all()


def test_a_coin_lands_with_the_probability_of_the_sigmoid():
    output = Output(spaces.MultiBinary(3), 16, zero=False)
    nn.init.normal_(output.head.linear.weight)
    features = torch.randn(ROWS, 16)
    action = torch.tensor([[0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
    expected = -nn.functional.binary_cross_entropy_with_logits(
        output.head.linear(features), action.float(), reduction="none"
    ).sum(-1)
    torch.testing.assert_close(output(features).log_prob(action), expected)


def test_half_precision_is_widened():
    output = Output(spaces.Discrete(3), 16)
    with torch.autocast("cpu", torch.bfloat16):
        dist = output(torch.randn(ROWS, 16))
    assert dist.logits.dtype == torch.float32


def test_double_precision():
    output = Output(spaces.Box(-1, 2, (3,)), 16, kind="squashed").double()
    dist = output(torch.randn(ROWS, 16, dtype=torch.float64))
    assert dist.log_prob(dist.sample()).dtype == torch.float64


# ── Masks ──


def test_a_mask_leaves_the_softmax_over_what_is_allowed():
    torch.manual_seed(0)
    output = Output(spaces.Discrete(4), 16, zero=False)
    features = torch.randn(ROWS, 16)
    mask = torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1], [0, 0, 1, 0]], dtype=torch.bool)
    dist, logits = output(features, mask), output.head.linear(features)
    for row in range(ROWS):
        allowed = mask[row].nonzero()[:, 0]
        log_probs = logits[row, allowed].log_softmax(-1)
        for i, action in enumerate(allowed):
            actions = torch.full((ROWS,), int(action))
            torch.testing.assert_close(dist.log_prob(actions)[row], log_probs[i])
        torch.testing.assert_close(dist.entropy()[row], -(log_probs.exp() * log_probs).sum())
    for _ in range(100):
        assert mask[torch.arange(ROWS), dist.sample()].all()
    assert mask[torch.arange(ROWS), dist.mode()].all()
    (dist.entropy().sum() + dist.log_prob(dist.sample()).sum()).backward()
    assert all(each.grad.isfinite().all() for each in output.parameters())


def test_a_mask_for_several_choices_is_laid_end_to_end():
    output = Output(spaces.MultiDiscrete([2, 3]), 16)
    mask = torch.tensor([False, True, True, False, True])  # one for all rows
    dist = output(torch.randn(ROWS, 16), mask)
    drawn = {tuple(row) for _ in range(50) for row in dist.sample().tolist()}
    assert drawn == {(1, 0), (1, 2)}
    torch.testing.assert_close(dist.entropy(), torch.full((ROWS,), math.log(2)))


def test_a_mask_for_the_parts_of_a_joint_space():
    space, kind, _ = ACTIONS["dict"]
    output = Output(space, 16, kind=kind)
    dist = output(torch.randn(ROWS, 16), {"go": torch.tensor([False, False, True]), "aim": None})
    assert dist.sample()["go"].tolist() == [2] * ROWS


@pytest.mark.parametrize(
    "space", [spaces.Discrete(3), spaces.MultiDiscrete([3, 2])], ids=["discrete", "multi-discrete"]
)
def test_a_row_that_allows_nothing_is_refused(space):
    width = 3 if isinstance(space, spaces.Discrete) else 5
    mask = torch.ones(ROWS, width, dtype=torch.bool)
    mask[2, :3] = False
    with pytest.raises(ValueError, match=r"allows no action at \[\[2"):
        Output(space, 8)(torch.randn(ROWS, 8), mask)


def test_masks_of_another_kind_are_refused():
    features = torch.randn(ROWS, 8)
    with pytest.raises(TypeError, match=r"the mask is torch\.int8, expected bool"):
        Output(spaces.Discrete(3), 8)(features, torch.ones(ROWS, 3, dtype=torch.int8))
    with pytest.raises(ValueError, match=r"shape \(4, 2\), expected \(N, 3\)"):
        Output(spaces.Discrete(3), 8)(features, torch.ones(ROWS, 2, dtype=torch.bool))
    for space, kind in (
        (spaces.Box(-1, 1, (2,)), None),
        (spaces.Box(-1, 1, (2,)), "squashed"),
        (FLAT["multi-binary"], None),
    ):
        with pytest.raises(ValueError, match="only the choices"):
            Output(space, 8, kind=kind)(features, torch.ones(ROWS, 2, dtype=torch.bool))


# ── What is refused, and what modules must be able to do ──


def test_squashed_needs_finite_bounds_apart():
    with pytest.raises(ValueError, match="infinite bounds"):
        Output(spaces.Box(-np.inf, 1, (2,)), 8, kind="squashed")
    with pytest.raises(ValueError, match="low is not below high"):
        Output(spaces.Box(np.zeros(2, np.float32), np.array([1, 0], np.float32)), 8, kind="squashed")


def test_kinds_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="kind is 'tanh', expected 'gaussian' or 'squashed'"):
        Output(spaces.Box(-1, 1, (2,)), 8, kind="tanh")
    with pytest.raises(ValueError, match="has no Box in it"):
        Output(spaces.Discrete(3), 8, kind="squashed")


@pytest.mark.parametrize("name", ACTIONS)
def test_outputs_can_be_copied_pickled_and_restored(name):
    space, kind, _ = ACTIONS[name]
    output = Output(space, 8, kind=kind, zero=False)
    fresh = Output(space, 8, kind=kind)
    fresh.load_state_dict(output.state_dict())
    features = torch.randn(ROWS, 8)
    mode = output(features).mode()
    for other in (fresh, copy.deepcopy(output), pickle.loads(pickle.dumps(output))):
        torch.testing.assert_close(other(features).mode(), mode)


@pytest.mark.parametrize("space", [FLAT["nested"], IMAGES["small"]], ids=["nested", "image"])
def test_intakes_can_be_copied_pickled_and_restored(space):
    intake, fresh = Intake(space), Intake(space)
    fresh.load_state_dict(intake.state_dict())
    obs = as_tensor(space, batch(space))
    for other in (fresh, copy.deepcopy(intake), pickle.loads(pickle.dumps(intake))):
        torch.testing.assert_close(other(obs), intake(obs))


# ── mlp ──


def test_mlp_layers_and_start():
    net = mlp((3, 5, 4, 2), nn.ReLU, gain=2.0, last_gain=0.5)
    assert [type(each).__name__ for each in net] == ["Linear", "ReLU", "Linear", "ReLU", "Linear"]
    torch.testing.assert_close(net[2].weight @ net[2].weight.T, 4 * torch.eye(4), rtol=0, atol=1e-5)
    torch.testing.assert_close(net[4].weight @ net[4].weight.T, 0.25 * torch.eye(2), rtol=0, atol=1e-5)
    assert all((net[i].bias == 0).all() for i in (0, 2, 4))
    assert len(mlp((3, 1))) == 1
    with pytest.raises(ValueError, match=r"sizes is \(3,\), expected at least two"):
        mlp((3,))


# ── On a GPU ──


@pytest.fixture
def no_waiting():
    """Raises where the host would wait for the device."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")  # torch's own, on being asked
@pytest.mark.parametrize("name", ACTIONS)
def test_on_a_gpu_learning_waits_for_nothing(name, request):
    space, kind, _ = ACTIONS[name]
    output, features = Output(space, 16, kind=kind).cuda(), torch.randn(ROWS, 16, device="cuda")
    torch.autograd.grad(output(features).entropy().sum(), [*output.parameters()], allow_unused=True)  # warm up
    request.getfixturevalue("no_waiting")
    dist = output(features)
    action = dist.sample()
    loss = (dist.log_prob(action) + dist.entropy() + dist.detach().kl(dist)).mean()
    loss.backward()
    dist.mode()
    dist.torch()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("name", [*FLAT, *IMAGES])
def test_on_a_gpu_an_intake_gives_the_same_and_waits_for_nothing(name, request):
    space = {**FLAT, **IMAGES}[name]
    intake, obs = Intake(space), batch(space)
    expected = intake(as_tensor(space, obs))
    intake.cuda()
    intake(as_tensor(space, obs, "cuda"))  # warm up
    request.getfixturevalue("no_waiting")
    features = intake(as_tensor(space, obs, "cuda"))
    torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(features.cpu(), expected, rtol=1e-2, atol=1e-2)  # convolutions use TF32


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_on_a_gpu_a_masked_policy_waits_for_nothing(request):
    output, features = Output(spaces.MultiDiscrete([2, 3]), 16).cuda(), torch.randn(ROWS, 16, device="cuda")
    mask = torch.tensor([False, True, True, False, True], device="cuda")
    request.getfixturevalue("no_waiting")
    drawn = output(features, mask).sample()
    torch.cuda.set_sync_debug_mode("default")
    assert (drawn[:, 0] == 1).all()
    assert (drawn[:, 1] != 1).all()
