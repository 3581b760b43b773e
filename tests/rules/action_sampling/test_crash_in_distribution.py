import torch

from rldebug.rules.action_sampling.crash_in_distribution import CrashInDistribution
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_no_divergence_of_two_distributions_is_known():
    discrete = torch.distributions.Categorical(logits=torch.zeros(2))
    normal = torch.distributions.Normal(torch.zeros(2), 1.0)
    names(CrashInDistribution(), crashed(lambda: torch.distributions.kl_divergence(discrete, normal)))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInDistribution(), crashed(lambda: torch.distributions.Categorical(probs=torch.tensor([-1.0, 2.0]))))
