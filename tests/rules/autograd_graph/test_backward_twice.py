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
    assert finding.message == "kept was computed once, and is gone through by every backward()"
    assert "kept (8,), leads to policy, made in line 12" in finding.seen
    assert (finding.where.file, finding.where.line) == (__file__, 12)


def test_names_what_carries_a_graph_when_the_line_cannot_be_found():
    def program():
        scope = {"nn": nn, "torch": torch}
        exec(
            "net = nn.Linear(2, 2)\nkept = net(torch.ones(3, 2)).exp()\nfor _ in range(2): kept.sum().backward()", scope
        )

    finding = names(BackwardTwice(), crashed(program))
    assert "made in" not in finding.seen
    assert "--creation-sites" in finding.help


def test_quiet_when_another_error_ends_it():
    quiet(BackwardTwice(), crashed(lambda: torch.zeros(2).mean().backward()))
