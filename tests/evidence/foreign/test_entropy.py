import math

import pytest

from rldebug.evidence.foreign.entropy import most_entropy
from rldebug.evidence.foreign.log import Column


def entropy(*values):
    return Column.of((i, 0.0, value) for i, value in enumerate(values))


@pytest.mark.parametrize("actions", [2, 3, 4, 6, 9, 18])
def test_an_entropy_that_begins_at_that_of_a_choice(actions):
    most = math.log(actions)
    assert most_entropy(entropy(0.995 * most, 0.5 * most, 1e-9), ["losses/entropy"]) == most


@pytest.mark.parametrize(
    "values",
    [
        (1.4189, 1.2, 0.8),  # a Gaussian of one dimension
        (2.8379, 2.5),  # of two
        (4.2568, 4.0),  # of three
        (0.9189, 0.9),  # of a width of exp(−½)
        (0.69, 0.1, -0.3),  # a density
        (0.69, 0.72),  # more than two actions can have
        (0.3, 0.2),  # trained before
        (math.nan, math.nan),
        (),
    ],
)
def test_what_may_be_a_density_has_no_maximum(values):
    assert most_entropy(entropy(*values), ["losses/entropy"]) is None


def test_a_width_in_the_log_means_a_density():
    assert most_entropy(entropy(0.69, 0.6), ["train/entropy_loss", "train/std"]) is None
