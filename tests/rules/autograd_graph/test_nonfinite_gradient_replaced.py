from __future__ import annotations

import functools
import re

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.autograd_graph.nonfinite_gradient_replaced import NonfiniteGradientReplaced
from tests.programs.data import Drift, found, net, tensor
from tests.watched import watched


def program(*, root: float, mended: bool, skipped: bool = False) -> None:
    torch.manual_seed(0)
    env, policy, critic = Drift(), net(3), net(1)
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], 1e-3)
    obs, _ = env.reset()
    for _ in range(5):
        rows = []
        for _ in range(16):
            with torch.no_grad():
                action = int(Categorical(logits=policy(tensor(obs)[None])).sample())
            after, reward, terminated, truncated, _ = env.step(action)
            rows.append((obs.copy(), action, reward))
            obs = env.reset()[0] if terminated or truncated else after
        s, a, r = (tensor(np.array(each)) for each in zip(*rows, strict=True))
        logits, value = policy(s), critic(s)[:, 0]
        loss = ((value - r) ** 2).mean() - (Categorical(logits=logits).log_prob(a) * (r - value).detach()).mean()
        loss = loss + ((logits * 0).sum() + root).sqrt()
        optimizer.zero_grad()
        loss.backward()
        for each in optimizer.param_groups[0]["params"] if mended else ():
            each.grad = torch.nan_to_num(each.grad)
        if not skipped:
            optimizer.step()


@functools.cache
def seen(**options: bool | float) -> Script:
    return watched(lambda: program(**options))[1]  # type: ignore[arg-type]


def test_fires_where_nan_is_set_to_zero() -> None:
    (finding,) = found(NonfiniteGradientReplaced(), seen(root=0.0, mended=True))
    assert finding.severity == "error"
    assert "policy" in finding.seen
    assert re.search(r"in (\d+) of \1 updates", finding.seen)


def test_quiet_where_gradients_are_finite() -> None:
    assert not found(NonfiniteGradientReplaced(), seen(root=1.0, mended=True))


def test_quiet_where_the_step_is_left_out() -> None:
    with pytest.raises(NotEnough):
        found(NonfiniteGradientReplaced(), seen(root=0.0, mended=True, skipped=True))
