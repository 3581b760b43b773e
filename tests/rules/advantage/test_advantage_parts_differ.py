import numpy as np
import torch
from torch import nn

from rldebug.rules.advantage.advantage_parts_differ import AdvantagePartsDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def program_with(learns):
    dist = torch.distributions.Categorical(logits=nn.Linear(3, 2)(torch.zeros(3)))
    logp = torch.stack([dist.log_prob(torch.tensor(0)) for _ in range(50)]) if learns else None
    rewards, values = np.zeros(5), np.zeros(7)
    return logp, rewards - values


def test_fires_when_data_does_not_fit_and_log_probs_are_learned():
    names(AdvantagePartsDiffer(), crashed(lambda: program_with(True)))


def test_quiet_when_no_log_prob_is_around():
    quiet(AdvantagePartsDiffer(), crashed(lambda: program_with(False)))
