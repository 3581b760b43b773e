import torch
from torch import nn

from rldebug.rules.autograd_graph.backward_twice import BackwardTwice
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_stored_log_probs_keep_their_graph():
    def program():
        policy = nn.Linear(4, 2)
        kept = policy(torch.zeros(8, 4)).log_softmax(-1)[:, 0]
        for _ in range(2):
            loss = -(kept * torch.ones(8)).mean()
            loss.backward()

    finding = names(BackwardTwice(), crashed(program))
    assert "kept (8,) float32 with a graph" in finding.seen
    assert finding.where.file == __file__


def test_quiet_when_another_error_ends_it():
    quiet(BackwardTwice(), crashed(lambda: torch.zeros(2).mean().backward()))
