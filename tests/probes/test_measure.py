"""What an algorithm has learned, beside the right answer."""

import numpy as np
import pytest
import torch

from rldebug.probes.agent import Factory, Learner, batch
from rldebug.probes.environment import Step
from rldebug.probes.measure import TIMES, CannotTell, forbidden_share, frequencies, mean_return, measure, regrets
from rldebug.probes.shelf import find

RNG = np.random.default_rng(0)


def nothing(steps):
    raise AssertionError("measuring must not train")


def looks(factory):
    """A factory every look of which was seen once."""
    for row in range(len(factory.probe.looks)):
        factory.log.append(Step(0, row, 0, 0.0, True, True))
    return factory


def test_right_values_have_no_error_and_swapped_ones_the_whole():
    factory = looks(Factory(find("observed-reward")(0.9)))

    def value(obs):
        return torch.tensor(obs[:, 0] - obs[:, 1], requires_grad=True)

    right = measure(Learner(learn=nothing, value=value), factory, {}, RNG)
    swapped = measure(Learner(learn=nothing, value=lambda obs: -value(obs)), factory, {}, RNG)
    assert right.error == 0.0
    assert right.value.tolist() == [1.0, -1.0]
    assert swapped.error == pytest.approx(1.0)  # in units of the spread, which is 2


def test_values_may_have_a_trailing_axis():
    factory = looks(Factory(find("constant-reward")(0.9)))
    learner = Learner(learn=nothing, value=lambda obs: np.full((len(obs), 1), 1.0))
    assert measure(learner, factory, {}, RNG).error == 0.0


def test_action_values_stand_for_values():
    factory = looks(Factory(find("constant-reward")(0.9)))
    learner = Learner(learn=nothing, q=lambda obs: np.tile([0.5, 1.0], (len(obs), 1)))
    assert measure(learner, factory, {}, RNG).value.tolist() == [0.75]


def test_what_was_never_shown_does_not_count():
    factory = Factory(find("observed-reward")(0.9))
    factory.log.append(Step(0, 0, 0, 1.0, True, True))
    learner = Learner(learn=nothing, value=lambda obs: np.ones(len(obs)))
    assert measure(learner, factory, {}, RNG).error == 0.0


def test_a_soft_critic_is_compared_with_soft_values():
    factory = looks(Factory(find("delayed-reward")(0.5)))
    bonus = 0.2  # for every state that is reached: 0.5 · 0.2 for the first, nothing for the second
    learner = Learner(
        learn=nothing,
        value=lambda obs: np.where(obs[:, 0] > 0, 0.5 + 0.5 * bonus, 1.0),
        bonus=lambda obs: np.full(len(obs), bonus),
    )
    assert measure(learner, factory, {}, RNG).error == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (lambda obs: obs, 0.0),  # one-hot observations: the right action is the state's number
        (lambda obs: 1 - obs, 2.0),
        (lambda obs: np.full((len(obs), 2), 0.5), 1.0),
        (lambda obs: obs.argmax(axis=1), 0.0),
        (lambda obs: torch.tensor(obs), 0.0),
    ],
    ids=["best", "worst", "even", "greedy actions", "a tensor"],
)
def test_regret_of_a_policy(policy, expected):
    factory = looks(Factory(find("observed-action-reward")(0.9)))
    assert measure(Learner(learn=nothing, policy=policy), factory, {}, RNG).error == pytest.approx(expected)


def test_a_number_stands_for_a_choice_where_actions_are_numbers():
    factory = looks(Factory(find("action-reward")(0.9), action="continuous"))
    good = Learner(learn=nothing, policy=lambda obs: np.full((len(obs), 1), 0.4))
    bad = Learner(learn=nothing, policy=lambda obs: np.full((len(obs), 1), -3.0))  # clipped, as the environment would
    assert measure(good, factory, {}, RNG).error == 0.0
    assert measure(bad, factory, {}, RNG).error == 2.0


def test_regret_by_state():
    probe = find("observed-action-reward")(0.9)
    assert regrets(probe, np.array([[1.0, 0.0], [1.0, 0.0]])).tolist() == pytest.approx([0.0, 2.0])


def test_nothing_to_ask_is_said():
    with pytest.raises(CannotTell, match="value"):
        measure(Learner(learn=nothing), Factory(find("constant-reward")(0.9)), {}, RNG)
    with pytest.raises(CannotTell, match="policy"):
        measure(Learner(learn=nothing), Factory(find("action-reward")(0.9)), {}, RNG)


def test_what_was_played_lately():
    probe = find("observed-action-reward")(0.9)
    log = [Step(0, 0, 0, 0.0, True, True)] * 1000 + [Step(0, 0, 1, 0.0, True, True)] * 300
    log += [Step(0, 1, 1, 0.0, True, True)] * 100
    assert frequencies(log, probe).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert np.isnan(frequencies(log[:1000], probe)[1]).all()


def test_returns_are_of_whole_episodes_by_environment():
    log = []
    for _ in range(20):  # two environments in turn: episodes of two steps that pay 1 and 10 a step
        for ended in (False, True):
            log += [Step(0, 0, 0, 1.0, ended, True), Step(1, 0, 0, 10.0, ended, True)]
    assert mean_return(log) == pytest.approx(11.0)
    assert mean_return(log[:8]) is None  # too few


def test_forbidden_actions_are_counted():
    log = [Step(0, 0, 0, 0.0, True, True)] * 3 + [Step(0, 0, 0, 0.0, True, False)]
    assert forbidden_share(log) == 0.25
    assert forbidden_share([]) is None


def test_every_look_is_shown_in_order():
    shown = batch(Factory(find("observed-reward")(0.9)).sample, RNG, TIMES)
    assert shown.shape == (2 * TIMES, 2)
    assert (shown[:TIMES, 0] == 1).all()
    assert (shown[TIMES:, 1] == 1).all()
