from rldebug.rules.network.frozen_weights import FrozenWeights
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import NAN, READINGS, detailed, moving, row


def run(trunk, readings=READINGS, ratio=-3.0):
    tables = moving(("policy.head.weight", "policy.head.bias"), readings)
    for i, each in enumerate(tables):
        tables[i] = {"parameters": {"policy.trunk.weight": trunk(i), **each["parameters"]}}
    return detailed(tables, facts={"gradients": {}}, numbers={"step/log10_ratio": [ratio] * readings})


def test_fires_when_a_group_has_a_gradient_and_never_moves():
    found = fires(FrozenWeights(), run(lambda i: row(0.1, step=0.0)))
    assert found.where.tensor == "policy.trunk.weight"


def test_fires_as_a_trap_on_a_single_reading():
    fires(FrozenWeights(), run(lambda i: row(0.1, step=0.0), readings=1))


def test_quiet_when_it_has_no_gradient():
    quiet(FrozenWeights(), run(lambda i: row(NAN, step=0.0)))


def test_quiet_when_its_gradient_is_zero():
    quiet(FrozenWeights(), run(lambda i: row(0.0, step=0.0)))


def test_quiet_when_it_moves_in_other_steps():
    quiet(FrozenWeights(), run(lambda i: row(0.1, step=0.0, norm=8.0 + 0.01 * i)))


def test_quiet_when_all_steps_are_at_the_last_digit():
    quiet(FrozenWeights(), run(lambda i: row(0.1, step=0.0), ratio=-8.0))


def test_declines_after_the_first_updates():
    not_enough(FrozenWeights(), run(lambda i: row(0.1, step=0.0), readings=4))
