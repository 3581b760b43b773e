import torch

from rldebug.rules.action_sampling.crash_in_distribution import CrashInDistribution
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_shapes_of_a_distribution_and_its_action_differ():
    names(
        CrashInDistribution(),
        crashed(lambda: torch.distributions.Normal(torch.zeros(3), torch.ones(3)).log_prob(torch.zeros(4))),
    )


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInDistribution(), crashed(lambda: torch.distributions.Categorical(probs=torch.tensor([-1.0, 2.0]))))
