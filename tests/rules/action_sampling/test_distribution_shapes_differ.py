import torch

from rldebug.rules.action_sampling.distribution_shapes_differ import DistributionShapesDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_action_has_another_shape():
    names(
        DistributionShapesDiffer(),
        crashed(lambda: torch.distributions.Normal(torch.zeros(3), torch.ones(3)).log_prob(torch.zeros(4))),
    )


def test_fires_when_mean_and_spread_differ():
    names(DistributionShapesDiffer(), crashed(lambda: torch.distributions.Normal(torch.zeros(5, 3), torch.ones(2))))


def test_quiet_when_the_action_is_impossible():
    quiet(
        DistributionShapesDiffer(),
        crashed(lambda: torch.distributions.Categorical(logits=torch.zeros(2)).log_prob(torch.tensor(3))),
    )
