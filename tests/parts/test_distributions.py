"""Each distribution beside its definition, written out with loops over rows and choices."""

import math

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Independent, kl_divergence

from rldebug.handover import update_of
from rldebug.metrics import policy as metrics
from rldebug.parts.distributions import FORBIDDEN, Categorical, Gaussian, Joint, SquashedGaussian

ROWS = 5
CHOICE = spaces.Discrete(4)
CHOICES = spaces.MultiDiscrete([3, 3])
BOX = spaces.Box(np.array([-1.0, -2.0, 0.0], np.float32), np.array([1.0, 5.0, 0.5], np.float32))


def squashed(mean, log_std, space=BOX):
    low, high = torch.as_tensor(space.low, dtype=mean.dtype), torch.as_tensor(space.high, dtype=mean.dtype)
    return SquashedGaussian(mean, log_std, space, (high + low) / 2, (high - low) / 2)


def some(kind, seed=0, dtype=torch.float64):
    """One of each, with random numbers in it."""
    draw = torch.Generator().manual_seed(seed)

    def random(*shape):
        return torch.randn(shape, generator=draw, dtype=dtype)

    return {
        "choice": lambda: Categorical(3 * random(ROWS, 4), CHOICE),
        "choices": lambda: Categorical(3 * random(ROWS, 2, 3), CHOICES),
        "choices of two dimensions": lambda: Categorical(random(ROWS, 2, 2, 3), spaces.MultiDiscrete([[3, 3], [3, 3]])),
        "coins": lambda: Categorical(random(ROWS, 3, 2), spaces.MultiBinary(3)),
        "gaussian": lambda: Gaussian(random(ROWS, 3), random(3), BOX),
        "gaussian of no dimension": lambda: Gaussian(random(ROWS), random(), spaces.Box(-1, 1, ())),
        "gaussian of two dimensions": lambda: Gaussian(random(ROWS, 2, 3), random(2, 3), spaces.Box(-1, 1, (2, 3))),
        "squashed": lambda: squashed(random(ROWS, 3) / 2, random(ROWS, 3) / 4 - 1),
        "squashed of no dimension": lambda: squashed(random(ROWS) / 2, random(ROWS) / 4 - 1, spaces.Box(-1, 3, ())),
        "squashed of two dimensions": lambda: squashed(random(ROWS, 2, 3) / 2, random(ROWS, 2, 3) / 4 - 1, MATRIX),
        "joint by name": lambda: Joint({"go": some("choice", seed), "aim": some("gaussian", seed + 100)}),
        "joint by number": lambda: Joint((some("choices", seed), some("squashed", seed + 100))),
    }[kind]()


def many(dist, times):
    """Every row again and again, so that one call draws a sample: sample `i` of row `j` is row `i · ROWS + j`."""

    def again(tensor):
        return tensor.repeat(times, *(1 for _ in tensor.shape[1:]))

    if isinstance(dist, Categorical):
        return Categorical(again(dist.logits), dist.space)
    if isinstance(dist, Gaussian):
        return Gaussian(again(dist.mean), dist.log_std, dist.space)
    return squashed(again(dist.mean), again(dist.log_std), dist.space)


MATRIX = spaces.Box(-1, 2, (2, 3))
DISCRETE = ["choice", "choices", "choices of two dimensions", "coins"]
GAUSSIAN = ["gaussian", "gaussian of no dimension", "gaussian of two dimensions"]
SQUASHED = ["squashed", "squashed of no dimension", "squashed of two dimensions"]
JOINT = ["joint by name", "joint by number"]
ALL = [*DISCRETE, *GAUSSIAN, *SQUASHED, *JOINT]


# ── The definitions ──


def softmax(logits):
    weights = [math.exp(each - max(logits)) for each in logits]
    return [each / sum(weights) for each in weights]


def slow_categorical(dist, row, action=None, other=None):
    """Log-probability, entropy and KL divergence of one row, choice by choice."""
    width = dist.logits.shape[-1]
    mine = [softmax(each) for each in dist.logits[row].reshape(-1, width).tolist()]
    if other is not None:
        theirs = [softmax(each) for each in other.logits[row].reshape(-1, width).tolist()]
        return sum(
            p * math.log(p / q) for ps, qs in zip(mine, theirs, strict=True) for p, q in zip(ps, qs, strict=True)
        )
    if action is not None:
        return sum(math.log(ps[i]) for ps, i in zip(mine, action[row].reshape(-1).tolist(), strict=True))
    return -sum(p * math.log(p) for ps in mine for p in ps)


def numbers(dist, row):
    log_std = dist.log_std.expand_as(dist.mean)
    return list(zip(dist.mean[row].reshape(-1).tolist(), log_std[row].exp().reshape(-1).tolist(), strict=True))


def normal_density(x, mean, std):
    return math.exp(-0.5 * ((x - mean) / std) ** 2) / (std * math.sqrt(2 * math.pi))


def slow_normal_kl(dist, other, row):
    total = 0.0
    for (m, s), (m2, s2) in zip(numbers(dist, row), numbers(other, row), strict=True):
        total += math.log(s2 / s) + (s * s + (m - m2) ** 2) / (2 * s2 * s2) - 0.5
    return total


def slow_squashed_log_prob(dist, action, row):
    """The density of u over the slope of u ↦ centre + reach · tanh u."""
    total = 0.0
    centre, reach = (each.reshape(-1).tolist() for each in (dist.centre, dist.reach))
    for (m, s), a, c, r in zip(numbers(dist, row), action[row].reshape(-1).tolist(), centre, reach, strict=True):
        u = math.atanh((a - c) / r)
        total += math.log(normal_density(u, m, s) / (r * (1 - math.tanh(u) ** 2)))
    return total


# ── Equal to the definitions ──


@pytest.mark.parametrize("kind", DISCRETE)
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=10)
def test_choices_as_defined(kind, seed):
    dist, other = some(kind, seed), some(kind, seed + 1)
    action = dist.sample()
    for row in range(ROWS):
        assert dist.log_prob(action)[row] == pytest.approx(slow_categorical(dist, row, action))
        assert dist.entropy()[row] == pytest.approx(slow_categorical(dist, row))
        assert dist.kl(other)[row] == pytest.approx(slow_categorical(dist, row, other=other), abs=1e-12)


@pytest.mark.parametrize("kind", GAUSSIAN)
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=10)
def test_gaussian_as_defined(kind, seed):
    dist, other = some(kind, seed), some(kind, seed + 1)
    action = dist.sample()
    for row in range(ROWS):
        chosen = action[row].reshape(-1).tolist()
        of_each = [normal_density(x, m, s) for x, (m, s) in zip(chosen, numbers(dist, row), strict=True)]
        assert dist.log_prob(action)[row] == pytest.approx(sum(map(math.log, of_each)))
        entropy = sum(0.5 * math.log(2 * math.pi * math.e * s * s) for _, s in numbers(dist, row))
        assert dist.entropy()[row] == pytest.approx(entropy)
        assert dist.kl(other)[row] == pytest.approx(slow_normal_kl(dist, other, row))


@pytest.mark.parametrize("kind", SQUASHED)
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=10)
def test_squashed_as_defined(kind, seed):
    dist, other = some(kind, seed), some(kind, seed + 1)
    action = dist.sample()
    for row in range(ROWS):
        expected = slow_squashed_log_prob(dist, action, row)
        assert dist.log_prob(action)[row] == pytest.approx(expected, rel=1e-6)  # by the u it remembers
        assert dist.log_prob(action.clone())[row] == pytest.approx(expected, rel=1e-6)  # by atanh
        assert dist.kl(other)[row] == pytest.approx(slow_normal_kl(dist, other, row))


@pytest.mark.parametrize("kind", JOINT)
def test_joint_is_the_sum_of_its_parts(kind):
    dist, other = some(kind), some(kind, 1)
    action = dist.sample()
    keys = dist.parts if isinstance(dist.parts, dict) else range(len(dist.parts))
    for name, whole in (("log_prob", dist.log_prob(action)), ("kl", dist.kl(other))):
        beside = action if name == "log_prob" else other.parts
        parts = [getattr(dist.parts[key], name)(beside[key]) for key in keys]
        torch.testing.assert_close(whole, parts[0] + parts[1])
    assert type(action) is type(dist.parts)
    assert list(dist.mode()) == list(action) if isinstance(action, dict) else len(dist.mode()) == 2


def test_the_density_of_squashed_actions_integrates_to_one_inside_the_bounds():
    space = spaces.Box(-1, 3, ())
    grid = torch.linspace(-1, 3, 40001, dtype=torch.float64)[1:-1]
    dist = squashed(torch.full_like(grid, 0.3), torch.full_like(grid, -0.5), space)
    assert float(dist.log_prob(grid).exp().sum()) * (4 / 40000) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("kind", ["squashed", "gaussian", "choice"])
def test_kl_and_entropy_are_the_means_they_stand_for(kind):
    torch.manual_seed(0)
    dist, other = some(kind), some(kind, 1)
    sampled, beside = many(dist, 4000), many(other, 4000)
    action = sampled.sample()
    gaps = (sampled.log_prob(action) - beside.log_prob(action)).reshape(-1, ROWS)
    surprises = -sampled.log_prob(action).reshape(-1, ROWS)
    entropies = sampled.entropy().reshape(-1, ROWS).mean(0)
    for samples, expected in ((gaps, dist.kl(other)), (surprises, entropies)):
        error = samples.std(0) / math.sqrt(len(samples)) * math.sqrt(2)  # the entropy may be an estimate, too
        assert ((samples.mean(0) - expected).abs() < 5 * error).all()


# ── Samples ──


@pytest.mark.parametrize("kind", DISCRETE)
def test_samples_come_with_their_probabilities(kind):
    torch.manual_seed(1)
    dist, draws = some(kind, dtype=torch.float32), 10000
    drawn = torch.nn.functional.one_hot(many(dist, draws).sample(), dist.logits.shape[-1])
    shares = drawn.reshape(draws, *dist.logits.shape).float().mean(0)
    probs = dist.logits.softmax(-1)
    assert ((shares - probs).abs() < 5 * (probs * (1 - probs) / draws).sqrt() + 1e-3).all()


@pytest.mark.parametrize("kind", [*GAUSSIAN, *SQUASHED])
def test_samples_of_numbers_have_their_mean_and_spread(kind):
    dist = some(kind)
    torch.manual_seed(2)
    drawn = many(dist, 4000).sample().reshape(4000, *dist.mean.shape)
    if kind in SQUASHED:
        assert (drawn > dist.centre - dist.reach).all()
        assert (drawn < dist.centre + dist.reach).all()
        drawn = ((drawn - dist.centre) / dist.reach).atanh()
    std = dist.log_std.exp()
    assert ((drawn.mean(0) - dist.mean).abs() < 5 * std / math.sqrt(4000)).all()
    assert ((drawn.std(0) / std - 1).abs() < 0.08).all()


@pytest.mark.parametrize("kind", [*DISCRETE, *GAUSSIAN, "joint by name"])
def test_mode_is_at_least_as_likely_as_any_sample(kind):
    dist = some(kind)
    for _ in range(20):
        assert (dist.log_prob(dist.mode()) >= dist.log_prob(dist.sample())).all()


def test_mode_of_squashed_is_the_image_of_the_mean():
    dist = some("squashed")
    torch.testing.assert_close(dist.mode(), dist.centre + dist.reach * torch.tanh(dist.mean))


def test_rsample_carries_gradients_and_sample_does_not():
    for kind in ("gaussian", "squashed"):
        dist = some(kind)
        dist.mean.requires_grad_()
        assert not dist.sample().requires_grad
        assert not dist.mode().requires_grad
        dist.rsample().sum().backward()
        assert dist.mean.grad.abs().min() > 0


def test_samples_of_a_categorical_have_no_graph():
    dist = Categorical(torch.randn(3, 4, requires_grad=True), CHOICE)
    assert not dist.sample().requires_grad
    assert not dist.mode().requires_grad


def test_the_gradient_of_a_squashed_log_prob_by_finite_differences():
    mean = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    log_std = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    noise = torch.randn(2, 3, dtype=torch.float64)

    def log_prob(mean, log_std):
        dist = squashed(mean, log_std)
        u = mean + log_std.exp() * noise
        action = dist.centre + dist.reach * u.tanh()
        return dist.log_prob(action)

    assert torch.autograd.gradcheck(log_prob, (mean, log_std))


@pytest.mark.parametrize("u", [-40.0, -12.0, 12.0, 40.0])
def test_a_saturated_squashed_action_has_a_finite_log_prob_and_gradient(u):
    mean = torch.full((1, 3), u, requires_grad=True)
    dist = squashed(mean, torch.zeros(1, 3))
    action = dist.rsample()
    log_prob = dist.log_prob(action)
    log_prob.sum().backward()
    # log N(u) − log reach − log(1 − tanh²u), the last of which is 2 log 2 − 2|u| that far out
    drawn = dist._drawn[1].detach()
    far = -0.5 * (drawn - u) ** 2 - 0.5 * math.log(2 * math.pi) - dist.reach.log() - 2 * math.log(2) + 2 * drawn.abs()
    torch.testing.assert_close(log_prob.detach(), far.sum(-1))
    assert mean.grad.isfinite().all()
    assert dist.log_prob(action.detach().clone()).isfinite().all()


def test_a_row_of_one_and_a_batch_of_two_dimensions():
    assert Categorical(torch.zeros(1, 4), CHOICE).log_prob(torch.tensor([2])).item() == pytest.approx(-math.log(4))
    dist = Categorical(torch.randn(7, 3, 4), CHOICE)
    assert dist.sample().shape == dist.entropy().shape == (7, 3)
    several = Gaussian(torch.randn(7, 2, 3), torch.zeros(3), BOX)
    assert several.log_prob(several.sample()).shape == several.entropy().shape == (7, 2)


# ── Masks ──


def test_a_masked_choice_is_never_drawn_and_adds_nothing_to_entropy_or_gradient():
    logits = torch.tensor([[0.3, FORBIDDEN, -0.2, FORBIDDEN]], requires_grad=True)
    dist, free = Categorical(logits, CHOICE), Categorical(torch.tensor([[0.3, -0.2]]), spaces.Discrete(2))
    torch.testing.assert_close(dist.entropy(), free.entropy())
    dist.entropy().sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[0, 1] == logits.grad[0, 3] == 0
    torch.manual_seed(0)
    assert {int(dist.sample()) for _ in range(200)} == {0, 2}
    assert dist.kl(dist).item() == 0


# ── What environments and the watcher are given ──


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (spaces.Discrete(4, start=-2), "choice"),
        (spaces.MultiDiscrete([3, 3], start=[5, -1]), "choices"),
        (spaces.MultiBinary(3), "coins"),
        (BOX, "gaussian"),
        (spaces.Box(-1, 1, ()), "gaussian of no dimension"),
        (BOX, "squashed"),
        (spaces.Box(-1, 2, (2, 3)), "squashed of two dimensions"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_to_env_is_in_the_space_of_a_vector_environment(space, kind):
    dist = some(kind, dtype=torch.float32)
    dist.space = space
    batch = batch_space(space, ROWS)
    for _ in range(50):
        action = dist.to_env(dist.sample())
        assert batch.contains(action), action
    lowest, highest = torch.full_like(dist.sample(), -100), torch.full_like(dist.sample(), 100)
    if isinstance(space, spaces.Box):
        assert batch.contains(dist.to_env(lowest))
        np.testing.assert_array_equal(dist.to_env(highest), np.broadcast_to(space.high, batch.shape))


def test_to_env_adds_the_start():
    dist = Categorical(torch.zeros(3, 4), spaces.Discrete(4, start=10))
    assert dist.to_env(torch.tensor([0, 1, 3])).tolist() == [10, 11, 13]
    dist = Categorical(torch.zeros(1, 2, 3), spaces.MultiDiscrete([3, 3], start=[5, -1]))
    assert dist.to_env(torch.tensor([[0, 2]])).tolist() == [[5, 1]]


def test_to_env_rounds_to_whole_numbers_where_the_space_has_them():
    space = spaces.Box(-3, 3, (2,), np.int32)
    dist = Gaussian(torch.zeros(1, 2), torch.zeros(2), space)
    action = dist.to_env(torch.tensor([[1.7, -2.6]]))
    assert action.tolist() == [[2, -3]]
    assert action.dtype == np.int32


def test_to_env_of_a_joint_keeps_its_structure():
    dist = some("joint by name", dtype=torch.float32)
    action = dist.to_env(dist.sample())
    assert batch_space(spaces.Dict({"go": CHOICE, "aim": BOX}), ROWS).contains(action)
    dist = some("joint by number", dtype=torch.float32)
    assert batch_space(spaces.Tuple((CHOICES, BOX)), ROWS).contains(dist.to_env(dist.sample()))


def test_the_log_prob_of_a_gaussian_is_that_of_the_unclipped_action():
    dist = Gaussian(torch.zeros(1, 3), torch.zeros(3), BOX)
    drawn = torch.full((1, 3), 9.0)
    clipped = torch.from_numpy(dist.to_env(drawn))
    assert drawn.tolist() == [[9.0] * 3]
    assert dist.log_prob(drawn) < dist.log_prob(clipped) - 40


@pytest.mark.parametrize("kind", ALL)
def test_torch_gives_an_equal_distribution_with_a_row_each(kind):
    dist, other = some(kind), some(kind, 1)
    twin, other_twin = dist.torch(), other.torch()
    action = dist.sample()
    assert twin.batch_shape == (ROWS,)
    torch.testing.assert_close(twin.log_prob(action), dist.log_prob(action))
    torch.testing.assert_close(kl_divergence(twin, other_twin), dist.kl(other))
    if kind not in SQUASHED and kind != "joint by number":
        torch.testing.assert_close(twin.entropy(), dist.entropy())


@pytest.mark.parametrize("kind", ALL)
def test_the_watcher_reads_what_torch_gives(kind):
    dist, old = some(kind), some(kind, 1)
    action = dist.sample()
    given = {
        "dist": dist.torch(),
        "dist_old": old.torch(),
        "logp_new": dist.log_prob(action),
        "entropy": dist.entropy(),
    }
    update = update_of("dbg.update(...)", given)
    torch.testing.assert_close(metrics.kl_exact(update), old.kl(dist).mean())
    torch.testing.assert_close(metrics.entropy(update), update.entropy.mean())
    if kind in DISCRETE:
        assert float(metrics.relative_entropy(update)) <= 1
        assert metrics.entropy_max(update) == pytest.approx(dist.max_entropy)


def test_the_joint_for_the_watcher_draws_one_action_per_row():
    twin = some("joint by name").torch()
    assert twin.sample()["go"].shape == (ROWS,)
    with pytest.raises(ValueError, match=r"sample_shape is \(2,\)"):
        twin.sample((2,))


def test_max_entropy():
    assert some("choice").max_entropy == pytest.approx(math.log(4))
    assert some("choices").max_entropy == pytest.approx(2 * math.log(3))
    assert some("coins").max_entropy == pytest.approx(3 * math.log(2))
    assert some("gaussian").max_entropy is None
    assert some("squashed").max_entropy is None
    assert some("joint by name").max_entropy is None
    joint = Joint((some("choice"), some("coins")))
    assert joint.max_entropy == pytest.approx(math.log(4) + 3 * math.log(2))
    uniform = Categorical(torch.zeros(1, 2, 3), CHOICES)
    assert uniform.entropy().item() == pytest.approx(uniform.max_entropy)


@pytest.mark.parametrize("kind", ALL)
def test_detach_cuts_the_graph_and_changes_no_number(kind):
    dist = some(kind)
    for part in dist.parts.values() if kind == "joint by name" else getattr(dist, "parts", (dist,)):
        (part.logits if isinstance(part, Categorical) else part.mean).requires_grad_()
    action = dist.sample()
    cut = dist.detach()
    assert dist.log_prob(action).requires_grad
    assert not cut.log_prob(action).requires_grad
    torch.testing.assert_close(cut.log_prob(action), dist.log_prob(action).detach(), rtol=1e-6, atol=1e-9)
    assert cut.kl(dist).requires_grad


@pytest.mark.parametrize("kind", ["choice", "gaussian"])
def test_kl_has_a_second_derivative_at_its_minimum(kind):
    """What TRPO's Fisher-vector products are made of: positive curvature where the gradient is 0."""
    dist = some(kind)
    parameter = dist.logits if kind == "choice" else dist.mean
    parameter.requires_grad_()
    (gradient,) = torch.autograd.grad(dist.detach().kl(dist).sum(), parameter, create_graph=True)
    direction = torch.randn_like(parameter)
    (product,) = torch.autograd.grad((gradient * direction).sum(), parameter)
    assert gradient.abs().max() < 1e-12
    assert (product * direction).sum() > 0


# ── What is refused ──


@pytest.mark.parametrize("shape", [(ROWS, 1), (ROWS - 1,), ()])
def test_log_prob_refuses_actions_of_another_shape(shape):
    with pytest.raises(ValueError, match=rf"shape \({shape[0] if shape else ''}.*expected \({ROWS},\)"):
        some("choice").log_prob(torch.zeros(shape, dtype=torch.int64))


@pytest.mark.parametrize("kind", ["gaussian", "squashed"])
def test_log_prob_refuses_numbers_that_would_broadcast(kind):
    with pytest.raises(ValueError, match=r"shape \(5, 1\), expected \(5, 3\)"):
        some(kind).log_prob(torch.zeros(ROWS, 1))


def test_log_prob_takes_any_integers_and_refuses_floats():
    dist = some("choice")
    action = dist.sample()
    torch.testing.assert_close(dist.log_prob(action.to(torch.int32)), dist.log_prob(action))
    torch.testing.assert_close(dist.log_prob(action.to(torch.uint8)), dist.log_prob(action))
    with pytest.raises(TypeError, match=r"the action is torch\.float32, expected integers"):
        dist.log_prob(action.float())


def test_a_joint_refuses_another_structure():
    with pytest.raises(ValueError, match=r"a dict of \['go'\], expected a dict of \['aim', 'go'\]"):
        some("joint by name").log_prob({"go": torch.zeros(ROWS)})
    with pytest.raises(ValueError, match=r"a Tensor, expected a dict"):
        some("joint by name").log_prob(torch.zeros(ROWS))
    with pytest.raises(ValueError, match=r"1 parts, expected a tuple of 2 parts"):
        some("joint by number").log_prob((torch.zeros(ROWS),))
    with pytest.raises(ValueError, match=r"a Tensor, expected a tuple of 2 parts"):
        some("joint by number").log_prob(torch.zeros(ROWS))


def test_independent_is_used_only_where_there_are_several():
    assert not isinstance(some("choice").torch(), Independent)
    assert isinstance(some("choices").torch(), Independent)


def test_the_old_policy_stays_where_it_was():
    """log_std is a parameter: an optimizer changes it in place."""
    log_std = torch.zeros(3, requires_grad=True)
    new = Gaussian(torch.zeros(ROWS, 3), log_std, BOX)
    old = new.detach()
    with torch.no_grad():
        log_std += 1.0
    assert (old.kl(new) > 0).all()
