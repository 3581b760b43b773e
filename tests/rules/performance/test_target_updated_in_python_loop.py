from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.target_updated_in_python_loop import TargetUpdatedInPythonLoop
from tests.judge import quiet
from tests.rules.timings import on, points_at_line, timing, yardstick

AFTER = {"part": "target networks", "before": "update", "after": "step"}
FOREACH = yardstick(
    Measured("polyak", "torch._foreach_lerp_, 4610 parameters in 6 tensors", 1e-5, 5e-5, {"lerp": 1.25e-5})
)

POLYAK = """
    def soft_update(target, online, tau):
        for t, o in zip(target.parameters(), online.parameters()):
            t.data.copy_(tau * o.data + (1 - tau) * t.data)  # here

    for update in range(1000):
        optimizer.step()
        soft_update(target, online, 0.005)
        env.step(act(obs))
"""

STATE_DICT = """
    for update in range(1000):
        optimizer.step()
        weights = target.state_dict()
        for key, value in online.state_dict().items():
            weights[key] = 0.005 * value + 0.995 * weights[key]  # here
        target.load_state_dict(weights)
"""

IN_LISTS = """
    import torch

    params, targets = list(net.parameters()), list(target.parameters())
    for update in range(1000):
        optimizer.step()
        with torch.no_grad():
            for p, q in zip(params, targets):
                q.mul_(0.995)
                q.add_(0.005 * p)  # here
"""


@pytest.mark.parametrize("code", [POLYAK, STATE_DICT, IN_LISTS])
def test_fires_on_loops_over_the_weights_of_two_networks(code):
    finding = points_at_line(TargetUpdatedInPythonLoop(), timing(code, [on("here", 2.0, **AFTER)]), "here")
    assert finding.speedup == pytest.approx(10 / 8.8)
    assert finding.seen == "2 ms per update, 20 % of the run"


def test_fires_with_what_it_could_take_here():
    made = timing(POLYAK, [on("here", 2.0, **AFTER)], yardstick=FOREACH)
    finding = points_at_line(TargetUpdatedInPythonLoop(), made, "here")
    assert finding.speedup == pytest.approx(10 / 8.4)
    assert "0.01 ms on this machine, 0.05 ms in a loop" in finding.expected


def test_quiet_where_one_call_for_each_tensor_is_nearly_as_fast():
    code = POLYAK.replace("copy_(tau * o.data + (1 - tau) * t.data)", "lerp_(o.data, tau)")
    quiet(TargetUpdatedInPythonLoop(), timing(code, [on("here", 2.0, **AFTER)], yardstick=FOREACH))


def test_quiet_where_it_takes_little():
    quiet(TargetUpdatedInPythonLoop(), timing(POLYAK, [on("here", 0.5, **AFTER)], yardstick=FOREACH))


def test_quiet_about_what_is_done_once_at_the_start():
    once = on("here", 2.0, part="other", before="start", after="step")
    quiet(TargetUpdatedInPythonLoop(), timing(POLYAK, [once]))


OTHER = """
    for update in range(1000):
        for mine, shared in zip(local.parameters(), common.parameters()):
            shared.grad = mine.grad  # gradients
        for p in net.parameters():
            p.grad.mul_(0.5)  # scaled
        target.load_state_dict(net.state_dict())  # whole
        optimizer.step()
"""


@pytest.mark.parametrize("marker", ["gradients", "scaled", "whole"])
def test_quiet_about_other_loops_over_weights(marker):
    quiet(TargetUpdatedInPythonLoop(), timing(OTHER, [on(marker, 3.0, **AFTER)]))
