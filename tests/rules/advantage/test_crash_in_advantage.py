import numpy as np
import torch
from torch import nn

from rldebug.rules.advantage.crash_in_advantage import CrashInAdvantage
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def program_with(learns):
    dist = torch.distributions.Categorical(logits=nn.Linear(3, 2)(torch.zeros(3)))
    logp = torch.stack([dist.log_prob(torch.tensor(0)) for _ in range(50)]) if learns else None
    rewards, values = np.zeros(5), torch.zeros(5)
    return logp, np.subtract(rewards, values, casting="never")


def test_fires_when_data_is_refused_and_log_probs_are_learned():
    names(CrashInAdvantage(), crashed(lambda: program_with(True)))


def test_quiet_when_no_log_prob_is_around():
    quiet(CrashInAdvantage(), crashed(lambda: program_with(False)))
