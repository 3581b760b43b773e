"""Running statistics beside those of all the data in one array, and returns beside a loop over the steps."""

import copy
import io
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.parts.normalise import ReturnScale, RunningNorm

# ── RunningNorm ──


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    offset=st.sampled_from([0.0, -3.0, 1e6]),
    scale=st.sampled_from([1.0, 1e-3, 50.0]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=30)
def test_statistics_are_those_of_all_data(sizes, offset, scale, dtype, seed):
    draw = torch.Generator().manual_seed(seed)
    batches = [(offset + scale * torch.randn(size, 3, generator=draw, dtype=torch.float64)).to(dtype) for size in sizes]
    norm = RunningNorm((3,))
    for batch in batches:
        norm.update(batch)
    everything = np.concatenate([batch.numpy() for batch in batches]).astype(np.float64)
    np.testing.assert_allclose(norm.mean, everything.mean(0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(norm.var, everything.var(0), rtol=1e-6, atol=1e-12)
    assert norm.count == len(everything)


@given(sizes=st.lists(st.integers(0, 30), min_size=2, max_size=5), offset=st.sampled_from([0.0, 1e6]))
@settings(deadline=None, max_examples=20)
def test_merging_is_seeing_all_data(sizes, offset):
    torch.manual_seed(0)
    alone, merged = RunningNorm(2), RunningNorm(2)
    for size in sizes:
        batch = offset + torch.randn(size, 2, dtype=torch.float64)
        alone.update(batch)
        other = RunningNorm(2)
        other.update(batch)
        merged.merge(other)
    for name in ("mean", "var", "count"):
        torch.testing.assert_close(getattr(merged, name), getattr(alone, name), rtol=1e-6, atol=1e-9)
    x = offset + torch.randn(5, 2, dtype=torch.float64)
    torch.testing.assert_close(merged(x), alone(x), rtol=1e-4, atol=1e-4)


def test_forward_standardises():
    torch.manual_seed(0)
    x = 100 + 7 * torch.randn(5000, 3)
    norm = RunningNorm((3,), clip=math.inf)
    norm.update(x)
    y = norm(x)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, ((x.double() - x.double().mean(0)) / x.double().std(0, correction=0)).float())


def test_forward_stays_right_far_from_zero():
    torch.manual_seed(0)
    x = (1e6 + torch.randn(5000, 3, dtype=torch.float64)).float()
    norm = RunningNorm((3,), clip=10)
    for batch in x.split(100):
        norm.update(batch)
    y = norm(x).double()
    assert y.mean().abs() < 0.05  # a float32 of this size has steps of 1/16
    assert (y.std() - 1).abs() < 0.02


def test_clipping():
    norm = RunningNorm((1,), clip=2.0)
    norm.update(torch.tensor([[-1.0], [1.0]]))
    assert norm(torch.tensor([[-50.0], [0.5], [50.0]])).tolist() == [[-2.0], [pytest.approx(0.5)], [2.0]]
    assert RunningNorm((1,)).clip == 5.0


def test_identity_before_any_data():
    norm = RunningNorm((2,))
    x = torch.tensor([[1e9, -7.0]])
    assert norm(x).equal(x)
    norm.update(torch.zeros(0, 2))
    assert norm(x).equal(x)


def test_a_constant_entry_becomes_zero():
    norm = RunningNorm((1,))
    norm.update(torch.full((10, 1), 0.1))
    assert norm(torch.full((3, 1), 0.1)).abs().max() < 1e-3


def test_one_row_at_a_time_and_time_by_batch():
    torch.manual_seed(0)
    x = torch.randn(6, 4, 3)
    block, rows = RunningNorm((3,)), RunningNorm((3,))
    block.update(x)
    for row in x.reshape(-1, 3):
        rows.update(row)
    torch.testing.assert_close(rows.mean, block.mean)
    torch.testing.assert_close(rows.var, block.var)
    torch.testing.assert_close(rows(x), block(x))


def test_a_number_has_no_shape():
    norm = RunningNorm(())
    norm.update(torch.tensor([1.0, 3.0]))
    assert norm.mean == 2.0
    assert norm(torch.tensor([3.0])).item() == pytest.approx(1.0)


def test_frozen_at_evaluation():
    norm = RunningNorm((2,))
    norm.update(torch.randn(10, 2))
    before, x = copy.deepcopy(norm.state_dict()), torch.randn(3, 2)
    y = norm(x)
    norm.eval()
    norm.update(100 + torch.randn(10, 2))
    assert all(norm.state_dict()[name].equal(value) for name, value in before.items())
    assert norm(x).equal(y)
    norm.train()
    norm.update(100 + torch.randn(10, 2))
    assert norm.count == 20


def test_a_checkpoint_restores_everything():
    norm, fresh = RunningNorm((2,)), RunningNorm((2,))
    norm.update(5 + torch.randn(10, 2))
    file = io.BytesIO()
    torch.save(norm.state_dict(), file)
    file.seek(0)
    fresh.load_state_dict(torch.load(file, weights_only=True))
    x = torch.randn(4, 2)
    assert fresh(x).equal(norm(x))
    for each in (fresh, norm):
        each.update(x)
    assert fresh.mean.equal(norm.mean)
    assert fresh.var.equal(norm.var)
    assert set(norm.state_dict()) == {"mean", "var", "count"}
    empty = RunningNorm((2,))
    fresh.load_state_dict(empty.state_dict())
    assert fresh(x).equal(x)


def test_inside_a_module_a_checkpoint_restores_it_too():
    net, fresh = (torch.nn.Sequential(RunningNorm((2,)), torch.nn.Linear(2, 1)) for _ in range(2))
    net[0].update(5 + torch.randn(10, 2))
    fresh.load_state_dict(net.state_dict())
    x = torch.randn(4, 2)
    assert fresh(x).equal(net(x))


def test_what_is_written_to_the_buffers_counts_after_refresh():
    norm = RunningNorm((1,))
    norm.mean.fill_(10)
    norm.var.fill_(4)
    norm.count.fill_(7)
    norm.refresh()
    assert norm(torch.tensor([[12.0]])).item() == pytest.approx(1.0)
    norm.update(torch.tensor([[2.0]]))
    assert norm.mean.item() == pytest.approx(9.0)


def test_copies_go_their_own_way():
    norm = RunningNorm((1,))
    norm.update(torch.tensor([[1.0], [3.0]]))
    other = copy.deepcopy(norm)
    other.update(torch.tensor([[100.0]]))
    assert norm.mean.item() == 2.0
    assert norm(torch.tensor([[3.0]])).item() == pytest.approx(1.0)


def test_updated_under_inference_mode_it_still_trains():
    norm = RunningNorm((2,))
    with torch.inference_mode():
        norm.update(torch.randn(10, 2))
        norm(torch.randn(1, 2))
    x = torch.zeros(3, 2, requires_grad=True)
    norm(x).sum().backward()
    torch.testing.assert_close(x.grad[0], (norm.var + norm.eps).rsqrt().float())


def test_statistics_take_no_graph():
    norm = RunningNorm((2,))
    norm.update(torch.randn(10, 2, requires_grad=True))
    assert not norm.mean.requires_grad
    assert not norm.var.requires_grad


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_numbers_that_would_never_leave_are_refused(wrong):
    norm = RunningNorm((2,))
    norm.update(torch.randn(10, 2))
    before = norm.mean.clone()
    with pytest.raises(ValueError, match="NaN or infinite"):
        norm.update(torch.tensor([[0.0, wrong]]))
    assert norm.mean.equal(before)
    assert norm.count == 10


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"shape \(10, 3\), expected \(…, \*\(2,\)\)"):
        RunningNorm((2,)).update(torch.randn(10, 3))
    with pytest.raises(ValueError, match=r"shape \(3,\), expected \(2,\)"):
        RunningNorm((2,)).merge(RunningNorm((3,)))


# ── ReturnScale ──


class SlowScale:
    """Every discounted return there was, in a list."""

    def __init__(self, envs, gamma):
        self.gamma, self.seen, self.running = gamma, [], [0.0] * envs

    def take_in(self, reward, ended):
        for rewards, ends in zip(reward, ended, strict=True):
            for env, (r, end) in enumerate(zip(rewards, ends, strict=True)):
                self.running[env] = self.gamma * self.running[env] + r
                self.seen.append(self.running[env])
                if end:
                    self.running[env] = 0.0

    def std(self):
        mean = sum(self.seen) / len(self.seen)
        return math.sqrt(sum((each - mean) ** 2 for each in self.seen) / len(self.seen))


@given(
    steps=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    envs=st.integers(1, 3),
    gamma=st.sampled_from([0.0, 0.9, 1.0]),
    offset=st.sampled_from([0.0, 1.0, 1e4]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=30)
def test_rewards_are_divided_by_the_std_of_all_returns(steps, envs, gamma, offset, seed):
    draw = np.random.default_rng(seed)
    scale, slow = ReturnScale(envs, gamma=gamma, clip=math.inf), SlowScale(envs, gamma)
    for block in steps:
        reward, ended = offset + draw.normal(size=(block, envs)), draw.random((block, envs)) < 0.3
        scaled = scale(reward, ended)
        slow.take_in(reward, ended)
        assert scaled.dtype == np.float32
        assert scaled.shape == reward.shape
        np.testing.assert_allclose(scaled, reward / math.sqrt(slow.std() ** 2 + 1e-8), rtol=1e-5)


@pytest.mark.parametrize("at", [0, 3], ids=["first step", "last step"])
def test_an_end_at_the_edge_of_a_block_cuts_the_return(at):
    reward, ended = np.ones((4, 1)), np.zeros((4, 1), bool)
    ended[at] = True
    scale, slow = ReturnScale(1, gamma=0.5), SlowScale(1, 0.5)
    for _ in range(2):
        scale(reward, ended)
        slow.take_in(reward, ended)
    assert math.sqrt(scale.var) == pytest.approx(slow.std())


def test_step_by_step_learns_the_same_as_a_block():
    draw = np.random.default_rng(0)
    reward, ended = draw.normal(size=(50, 3)), draw.random((50, 3)) < 0.1
    block, steps = ReturnScale(3, gamma=0.99), ReturnScale(3, gamma=0.99)
    block(reward, ended)
    for each in zip(reward, ended, strict=True):
        last = steps(*each)
    assert last.shape == (3,)
    assert steps.var == pytest.approx(block.var)
    np.testing.assert_allclose(steps.carried, block.carried)


def test_rewards_keep_their_sign_and_are_clipped():
    scale = ReturnScale(2, gamma=0.9, clip=1.5)
    scaled = scale(np.array([[5.0, 6.0], [5.5, 500.0]]), np.zeros((2, 2), bool))
    assert (scaled > 0).all()
    assert scaled.max() == 1.5
    assert scale.eval()(np.array([-1e9, 1e9]), np.zeros(2, bool)).tolist() == [-1.5, 1.5]


def test_nothing_is_learned_at_evaluation():
    scale = ReturnScale(2, gamma=0.9)
    scale(np.random.default_rng(0).normal(size=(9, 2)), np.zeros((9, 2), bool))
    before = scale.state_dict()
    scale.eval()
    scale(np.full((9, 2), 1e3), np.zeros((9, 2), bool))
    after = scale.state_dict()
    assert {name: after[name] for name in ("mean", "var", "count")} == {
        name: before[name] for name in ("mean", "var", "count")
    }
    assert after["carried"].equal(before["carried"])
    scale.train()
    scale(np.full((9, 2), 1e3), np.zeros((9, 2), bool))
    assert scale.count == 36


def test_a_checkpoint_goes_on_where_it_was():
    draw = np.random.default_rng(0)
    reward, ended = draw.normal(size=(2, 9, 2)), draw.random((2, 9, 2)) < 0.2
    scale, fresh = ReturnScale(2, gamma=0.9), ReturnScale(2, gamma=0.9)
    scale(reward[0], ended[0])
    file = io.BytesIO()
    torch.save(scale.state_dict(), file)
    file.seek(0)
    fresh.load_state_dict(torch.load(file, weights_only=True))
    np.testing.assert_array_equal(fresh(reward[1], ended[1]), scale(reward[1], ended[1]))
    assert fresh.var == scale.var


def test_a_state_dict_is_not_changed_by_what_comes_later():
    scale = ReturnScale(1, gamma=0.9)
    scale(np.ones(1), np.zeros(1, bool))
    state = scale.state_dict()
    scale(np.ones(1), np.zeros(1, bool))
    assert state["carried"].tolist() == [0.9]


def test_what_does_not_fit_is_refused():
    scale = ReturnScale(2, gamma=0.9)
    with pytest.raises(ValueError, match=r"reward has shape \(3,\).*expected \(2,\) or \(T, 2\)"):
        scale(np.ones(3), np.zeros(3, bool))
    with pytest.raises(ValueError, match=r"ended \(1, 2\)"):
        scale(np.ones(2), np.zeros((1, 2), bool))
    for wrong in ([1.0, math.nan], [math.inf, 1.0], [math.inf, -math.inf]):
        with pytest.raises(ValueError, match="NaN or infinite"):
            scale(np.array(wrong), np.zeros(2, bool))
    with pytest.raises(ValueError, match="of 3 environments, expected 2"):
        scale.load_state_dict(ReturnScale(3, gamma=0.9).state_dict())
    assert scale.count == 0
    assert scale.carried.tolist() == [0, 0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")  # torch's own, on being asked
def test_on_a_gpu_it_gives_the_same_and_waits_for_nothing():
    x = 5 + torch.randn(64, 3)
    here, there, on_device = RunningNorm((3,)), RunningNorm((3,)).cuda(), x.cuda()
    here.update(x)
    torch.cuda.set_sync_debug_mode("error")
    try:
        there.update(on_device)
        y = there(on_device)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(y.cpu(), here(x))
    here.merge(there)
    assert here.count == 128
