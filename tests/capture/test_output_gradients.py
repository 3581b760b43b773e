"""What a loss does to the outputs of networks, and which way single numbers go, as a watched program shows it."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.watched import watched


def learn(updates=12):
    """An actor through its critic, and a temperature, without an environment."""
    torch.manual_seed(0)
    actor, critic = nn.Linear(3, 2), nn.Bilinear(3, 2, 1)
    temperature = torch.zeros(1, requires_grad=True)
    steps = [torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([temperature], lr=0.1)]
    for _ in range(updates):
        rows = torch.randn(8, 3)
        (-critic(rows, actor(rows)).mean() + 2.0 * temperature.sum()).backward()
        for each in steps:
            each.step()
            each.zero_grad()
        critic.zero_grad()
    return [each.detach().clone() for each in (*actor.parameters(), temperature)]


@pytest.fixture(scope="module")
def seen():
    kept = []
    _, script = watched(lambda: kept.append(learn()))
    return script, kept[0]


def test_each_row_of_the_critic_is_pushed_by_the_mean(seen):
    script, _ = seen
    pushed = [event for _, event in script.events("gradient") if event["module"] == "critic"]
    assert len(pushed) >= 4
    assert all(np.allclose(each.arrays["gradient"], -1 / 8) for each in pushed)


def test_gradients_of_one_pass_belong_together_and_to_their_calls(seen):
    script, _ = seen
    found = 0
    for audit in script.audits:
        tasks: dict[int, set[str]] = {}
        for event in audit.of("gradient"):
            tasks.setdefault(event["task"], set()).add(event["module"])
            call = next(each for each in audit.calls if event["of"] in np.ravel(each.arrays.get("orders", each.order)))
            assert call["module"] == event["module"]
        found += len(tasks)
        assert all(each == {"actor", "critic"} for each in tasks.values())
    assert found >= 4


def test_the_second_input_is_kept_and_its_graph_is_noted(seen):
    script, _ = seen
    calls = [event for _, event in script.events("call") if event["module"] == "critic"]
    assert calls
    assert all(each.arrays["input1"].shape[1] == 2 for each in calls)
    assert all([one["attached"] for one in each["inputs"]] == [False, True] for each in calls)


def test_a_single_number_is_told_with_its_sign(seen):
    script, _ = seen
    steps = [event for _, event in script.events("scalar")]
    assert len(steps) >= 4
    assert all(each["gradient"] == [2.0] for each in steps)
    assert all(each["after"][0] == pytest.approx(each["before"][0] - 0.2) for each in steps)


def test_nothing_is_changed(seen):
    _, kept = seen
    assert all(torch.equal(one, two) for one, two in zip(kept, learn(), strict=True))
