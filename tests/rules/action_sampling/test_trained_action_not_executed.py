import numpy as np
import torch
from torch import nn

from tests.watched import findings

CODE = "ACT300"


class Walk:
    """A point on a line that two actions push about."""

    def reset(self):
        self.place, self.count = np.random.default_rng(3).normal(size=3), 0
        return self.place.copy()

    def step(self, action):
        self.place = self.place + (0.1 if action else -0.1) + 0.01 * self.count
        self.count += 1
        return self.place.copy(), float(self.place.sum()), self.count == 25, {}


def q_learning(*, shifted=0, resampled=False, numbers=(0, 1), dreamed=0):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    env, memory = Walk(), []
    obs = env.reset()
    for _ in range(200):
        with torch.no_grad():
            greedy = int(net(torch.as_tensor(obs, dtype=torch.float32)).argmax())
        action = int(rng.integers(2)) if rng.random() < 0.5 else greedy
        after, reward, done, _ = env.step(numbers[action])
        memory.append((obs, int(rng.integers(2)) if resampled else action, reward, after, done))
        obs = env.reset() if done else after
        if len(memory) > 16:
            rows = rng.integers(1, len(memory), 8)
            batch = torch.tensor(np.array([memory[each][0] for each in rows]), dtype=torch.float32)
            chosen = torch.tensor([memory[each - shifted][1] for each in rows])
            target = torch.tensor([memory[each][2] for each in rows], dtype=torch.float32)
            if dreamed:  # what a model says of other actions, from the same observations
                batch, chosen = torch.cat([batch, batch[:dreamed]]), torch.cat([chosen, 1 - chosen[:dreamed]])
                target = torch.cat([target, torch.zeros(dreamed)])
            loss = (net(batch).gather(1, chosen[:, None])[:, 0] - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_fires_where_another_action_is_stored():
    (found,) = findings(lambda: q_learning(resampled=True), CODE)
    assert found.component == "action-sampling"
    assert found.severity == "error"
    assert found.where.file is not None
    assert found.where.file.endswith("test_trained_action_not_executed.py")


def test_fires_where_actions_are_a_step_late():
    assert findings(lambda: q_learning(shifted=1), CODE)


def test_quiet_where_rows_that_were_dreamed_stand_beside_the_others():
    assert not findings(lambda: q_learning(dreamed=4), CODE)


def test_fires_where_they_are_not_all_that_differs():
    assert findings(lambda: q_learning(dreamed=4, shifted=1), CODE)


def test_quiet_where_the_executed_action_is_stored():
    assert not findings(q_learning, CODE)


def test_quiet_where_actions_have_other_numbers_in_the_environment():
    assert not findings(lambda: q_learning(numbers=(1, 0)), CODE)
