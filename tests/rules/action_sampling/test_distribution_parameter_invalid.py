import numpy as np
import torch

from rldebug.rules.action_sampling.distribution_parameter_invalid import DistributionParameterInvalid
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_log_probs_are_drawn_from():
    names(DistributionParameterInvalid(), crashed(lambda: torch.multinomial(torch.zeros(5, 2).log_softmax(-1), 1)))


def test_fires_when_outputs_are_taken_for_probabilities():
    names(DistributionParameterInvalid(), crashed(lambda: torch.distributions.Categorical(torch.tensor([[-0.3, 0.2]]))))


def test_fires_when_a_scale_is_negative():
    def program():
        std = torch.tensor([-0.5, 0.5])
        torch.distributions.Normal(torch.zeros(2), std)

    names(DistributionParameterInvalid(), crashed(program))


def test_fires_when_numpy_is_given_probabilities_that_do_not_sum_to_one():
    names(DistributionParameterInvalid(), crashed(lambda: np.random.default_rng(0).choice(2, p=np.array([0.5, 0.7]))))


def test_fires_when_every_action_is_masked():
    def program():
        probs = torch.zeros(2, 3)
        torch.distributions.Categorical(probs)

    names(DistributionParameterInvalid(), crashed(program))


def test_quiet_when_it_is_nan():
    quiet(
        DistributionParameterInvalid(),
        crashed(lambda: torch.distributions.Categorical(logits=torch.full((2, 2), float("nan")))),
    )
