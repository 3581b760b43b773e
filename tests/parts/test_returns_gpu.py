"""On a CUDA device: the estimators agree with the same scan on the CPU, and never wait for the device."""

import numpy as np
import pytest
import torch

from rldebug.parts import returns

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore:Synchronization debug mode"),  # torch's own, on being asked to refuse waits
]

OFF = {"gamma": 0.99, "lam": 0.95}


def rollout(steps, envs, device, dtype=torch.float64):
    rng = np.random.default_rng(0)
    floats = torch.from_numpy(rng.standard_normal((4, steps, envs)))
    flags = torch.from_numpy(rng.random((2, steps, envs)) < 0.02)
    last = torch.from_numpy(rng.standard_normal(envs))
    return [*floats.to(device, dtype), *flags.to(device), last.to(device, dtype)]


def gae(r, v, final, ratio, over, cut, last):
    return returns.gae(r, v, over, cut, last_value=last, final_value=final, **OFF)


def td_lambda(r, v, final, ratio, over, cut, last):
    return (returns.td_lambda(r, v, over, cut, last_value=last, final_value=final, **OFF),)


def n_step(r, v, final, ratio, over, cut, last):
    return (returns.n_step(r, v, over, cut, last_value=last, final_value=final, gamma=0.99, n=5),)


def reward_to_go(r, v, final, ratio, over, cut, last):
    return (returns.reward_to_go(r, over, cut, last_value=last, final_value=final, gamma=0.99),)


def vtrace(r, v, final, ratio, over, cut, last):
    return returns.vtrace(r, v, over, cut, log_ratio=ratio, last_value=last, final_value=final, **OFF)


def retrace(r, v, final, ratio, over, cut, last):
    return (returns.retrace(r, v, final, over, cut, log_ratio=ratio, **OFF),)


ESTIMATORS = {each.__name__: each for each in (gae, td_lambda, n_step, reward_to_go, vtrace, retrace)}


@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("shape", [(1, 1), (37, 3), (2048, 1), (128, 4096)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_as_on_the_cpu(name, shape, monkeypatch):
    on_device = ESTIMATORS[name](*rollout(*shape, "cuda"))
    monkeypatch.setattr(returns, "_on_host", lambda tensor: False)  # the scan, which the tests hold against the twins
    for result, wanted in zip(on_device, ESTIMATORS[name](*rollout(*shape, "cpu")), strict=True):
        assert result.is_cuda
        torch.testing.assert_close(result.cpu(), wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_no_wait_for_the_device(name, dtype):
    """One wait raises. Flags that are numbers, a last value that is one: whatever a caller may have."""
    *floats, over, cut, last = rollout(128, 4096, "cuda", dtype)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        results = ESTIMATORS[name](*floats, over, cut, last)
        ESTIMATORS[name](*floats, over.to(torch.uint8), cut.to(dtype), 0.5)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for result in results:
        assert result.dtype == dtype
        assert bool(result.isfinite().all())


def test_a_wait_would_be_noticed():
    torch.cuda.set_sync_debug_mode("error")
    try:
        with pytest.raises(RuntimeError, match="synchronizing"):
            torch.ones(3, device="cuda").sum().item()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_one_device():
    r, v, final, ratio, over, cut, last = rollout(4, 2, "cuda")
    with pytest.raises(ValueError, match="last_value is on cpu and value on cuda:0, expected one device"):
        gae(r, v, final, ratio, over, cut, last.cpu())
