import pytest

from rldebug.rules.autograd_graph.loss_summed_with_its_graph import LossSummedWithItsGraph
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
total = 0.0
for batch in data:
    loss = net(batch).mean()
    loss.backward()
    opt.step()
    total += loss  # here
print(total / len(data))
""",
            id="a script",
        ),
        pytest.param(
            """
seen = 0
for rows in data:
    cost = net(rows).pow(2).mean()
    seen = cost + seen  # here
    cost.backward()
    opt.step()
""",
            id="written out",
        ),
        pytest.param(
            """
class Agent:
    def learn(self, data):
        self.seen = 0
        for batch in data:
            error = self.net(batch).mean()
            error.backward()
            self.seen += error  # here
        return self.seen
""",
            id="a method",
        ),
    ],
)
def test_fires_on(code):
    points_at(LossSummedWithItsGraph(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
total = 0.0
for batch in data:
    loss = net(batch).mean()
    loss.backward()
    total += loss.item()
""",
            id="a number",
        ),
        pytest.param(
            """
total = 0
for batch in data:
    loss = net(batch).mean()
    total += loss
total.backward()
""",
            id="a sum that is trained on",
        ),
        pytest.param(
            """
total = 0
for batch in data:
    loss = net(batch).mean()
    loss.backward()
    total += loss
print(total.item())
""",
            id="a sum of which the graph is dropped",
        ),
        pytest.param(
            """
total = 0
for batch in data:
    part = net(batch).mean()
    total += part
    loss = total * 2
    loss.backward()
""",
            id="a part of the loss",
        ),
        pytest.param(
            """
total = 0
for batch in data:
    loss = net(batch).mean()
    loss.backward()
    total += batch
""",
            id="something else",
        ),
    ],
)
def test_quiet_about(code):
    quiet(LossSummedWithItsGraph(), text(HEAD + code))
