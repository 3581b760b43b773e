import torch

from rldebug.rules.action_sampling.action_outside_support import ActionOutsideSupport
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_scaled_action_is_evaluated():
    names(
        ActionOutsideSupport(),
        crashed(lambda: torch.distributions.Categorical(logits=torch.zeros(3, 2)).log_prob(torch.tensor([0, 1, 2]))),
    )


def test_fires_when_a_beta_is_asked_for_an_action_outside_of_its_interval():
    names(
        ActionOutsideSupport(),
        crashed(lambda: torch.distributions.Beta(torch.ones(1), torch.ones(1)).log_prob(torch.tensor([2.0]))),
    )


def test_quiet_when_the_parameters_are_at_fault():
    quiet(ActionOutsideSupport(), crashed(lambda: torch.distributions.Categorical(probs=torch.tensor([-1.0, 2.0]))))
