import pytest

from rldebug.rules.buffer.importance_weights_never_used import ImportanceWeightsNeverUsed
from tests.judge import quiet
from tests.rules.sources import points_at, text

REPLAY = """
class Replay:
    def sample(self, n, beta):
        p = self.priorities / self.priorities.sum()
        idx = np.random.choice(len(p), n, p=p)
        w = (len(p) * p[idx]) ** (-beta)
        w = w / w.max()
        return [self.rows[i] for i in idx], idx, torch.tensor(w)
"""
LEARN = """
def learn(replay, net, target, optimizer, beta):
    rows, idx, weights = replay.sample(64, beta)  # here
    error = target(rows) - net(rows)
    loss = {loss}
    loss.backward()
    optimizer.step()
    replay.update(idx, error)
"""


def test_fires_where_the_loss_is_averaged_without_them():
    code = REPLAY + LEARN.format(loss="error.pow(2).mean()")
    points_at(ImportanceWeightsNeverUsed(), code)
    assert len(list(ImportanceWeightsNeverUsed().check(text(code)))) == 1


@pytest.mark.parametrize("loss", ["(weights * error.pow(2)).mean()", "huber(error, weight=weights)"])
def test_quiet_where_the_loss_holds_them(loss):
    quiet(ImportanceWeightsNeverUsed(), text(REPLAY + LEARN.format(loss=loss)))


def test_quiet_where_what_is_left_unread_is_no_weight():
    code = REPLAY.replace("** (-beta)", "** 2") + LEARN.format(loss="error.pow(2).mean()")
    quiet(ImportanceWeightsNeverUsed(), text(code))


def test_quiet_where_nothing_is_learned_from_it():
    code = REPLAY + "\ndef look(replay):\n    rows, idx, weights = replay.sample(4, 0.5)\n    print(rows, idx)\n"
    quiet(ImportanceWeightsNeverUsed(), text(code))
