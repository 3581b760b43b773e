import pytest

from rldebug.rules.checkpoint.lowest_score_saved import LowestScoreSaved
from tests.judge import quiet
from tests.rules.sources import points_at, text

EVALUATE = """
import numpy as np, torch
def play(net, world, n):
    got = []
    for k in range(n):
        ob, _ = world.reset(seed=k)
        score, over = 0.0, False
        while not over:
            ob, r, term, trunc, _ = world.step(net(ob))
            score += float(r)
            over = term or trunc
        got.append(score)
    return {given}
"""

LEARN = """
def learn(net, world):
    record = {first}
    for k in range(100):
        {bind} = play(net, world, 5)
        if {test}:{mark}
            record = x
            torch.save(net.state_dict(), "kept.pt")
"""


def program(test, given="float(np.mean(got))", first='float("inf")', bind="x", here=True):
    learn = LEARN.format(first=first, bind=bind, test=test, mark="  # here" if here else "")
    return EVALUATE.format(given=given) + learn


@pytest.mark.parametrize(
    "code",
    [
        program("x < record"),
        program("x <= record"),
        program("record > x", given="sum(got) / n"),
        program("k > 3 and x < record", given="(np.mean(got), len(got))", bind="x, _"),
        """
        import numpy as np
        class Watch:
            def __init__(self, agent):
                self.agent, self.low, self.seen = agent, np.inf, []
            def on_end(self, infos):
                for info in infos:
                    if "episode" in info:
                        self.seen.append((info["episode"]["r"], info["episode"]["l"]))
                won, length = np.mean(np.array(self.seen), axis=0)
                if won < self.low:  # here
                    self.low = won
                    self.agent.save("kept")
        """,
    ],
)
def test_fires_where_the_lowest_return_is_kept(code):
    points_at(LowestScoreSaved(), code)


@pytest.mark.parametrize(
    "code",
    [
        program("x > record", first='-float("inf")', here=False),
        program("x < record", given="-np.mean(got)", here=False),  # a cost
        program("x < record", given="np.std(got)", here=False),
        program("x < record", given="(len(got), np.mean(got))", bind="x, _", here=False),  # another of the two
        program("x < record", given="np.mean([net.loss(each) for each in got])", here=False),
        """
        import torch
        def learn(net, env, optimizer):
            low, obs = float("inf"), env.reset()[0]
            for k in range(100):
                obs, reward, ended, cut, _ = env.step(net.act(obs))
                loss = ((net.value(obs) - reward) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                x = loss.item()
                if x < low:
                    low = x
                    torch.save(net.state_dict(), "kept.pt")
        """,
        """
        import numpy as np
        class Watch:
            def __init__(self, agent):
                self.agent, self.low, self.seen = agent, np.inf, []
            def on_end(self, infos):
                for info in infos:
                    if "episode" in info:
                        self.seen.append((info["episode"]["r"], info["episode"]["l"]))
                won, length = np.mean(np.array(self.seen), axis=0)
                if length < self.low:
                    self.low = length
                    self.agent.save("kept")
        """,
    ],
)
def test_quiet_where_it_is_no_return_or_the_highest(code):
    quiet(LowestScoreSaved(), text(code))
