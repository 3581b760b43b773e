import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.policy_loss.weights_unlike_log_probs import WeightsUnlikeLogProbs
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_log_prob_and_advantage_have_other_lengths():
    def program():
        logp = nn.Linear(3, 2)(torch.zeros(5, 3)).log_softmax(-1)[:, 0]
        advantage = torch.zeros(7)
        return (logp * advantage).mean()

    names(WeightsUnlikeLogProbs(), crashed(program))


def test_fires_when_the_weights_of_tokens_lack_an_axis():
    def program():
        logits = nn.Linear(3, 6)(torch.zeros(8, 5, 3))
        logp = logits.log_softmax(-1).gather(-1, torch.zeros(8, 5, 1, dtype=torch.long)).squeeze(-1)
        ratio = (logp - logp.detach()).exp()
        return ratio * torch.zeros(8)

    names(WeightsUnlikeLogProbs(), crashed(program))


def test_says_how_groups_become_rows():
    def program():
        scores = nn.Linear(3, 6)(torch.zeros(6, 7, 3)).log_softmax(-1)
        picked = scores.gather(-1, torch.zeros(6, 7, 1, dtype=torch.long)).squeeze(-1)
        worth = torch.zeros(3, 2)
        return picked * worth

    assert "worth.reshape(-1, 1)" in names(WeightsUnlikeLogProbs(), crashed(program)).help


def test_quiet_when_it_is_a_regression():
    quiet(
        WeightsUnlikeLogProbs(),
        crashed(lambda: F.mse_loss(nn.Linear(3, 1)(torch.zeros(5, 3)).squeeze(-1), torch.zeros(7))),
    )
