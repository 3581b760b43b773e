from rldebug.rules.network.dead_units import DeadUnits
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import NAN, READINGS, detailed, row

SIZES = {"critic.a.weight": (64, 4), "critic.b.weight": (64, 64), "critic.head.weight": (300, 64)}


def layers(dead, readings=READINGS, **numbers):
    tables = [
        {"layers": {"critic.1": [0.1, 0.1, 1.0, dead(i), NAN], "critic.2": [0.1] * 3 + [NAN] * 2}}
        for i in range(readings)
    ]
    return detailed(tables, numbers={name: [each] * readings for name, each in numbers.items()})


def rows(zero, rows_=64.0, norm=lambda i: 1.0):
    """Tables of a network whose rectifiers are called as functions; `zero` gives the share of silent rows by tensor."""
    tables = []
    for i in range(READINGS):
        table = {}
        for name, (outputs, inputs) in SIZES.items():
            scale = norm(i) * 0.1
            weight = scale * (outputs * inputs) ** 0.5
            table[name] = row(0.1, zero_rows=zero.get(name, 0.0), norm=weight, std=scale)
            table[name.replace("weight", "bias")] = row(0.1, norm=scale * outputs**0.5, std=scale)
        tables.append({"parameters": table})
    return detailed(tables, numbers={"batch/rows": [rows_] * READINGS})


def test_fires_when_a_layer_is_off_on_the_whole_batch():
    found = fires(DeadUnits(), layers(lambda i: 0.3 if i < 3 else 0.97))
    assert (found.where.tensor, found.where.update) == ("critic.1", 4)


def test_fires_when_the_rows_of_a_hidden_layer_get_no_gradient():
    found = fires(DeadUnits(), rows({"critic.b.weight": 0.95}))
    assert found.where.tensor == "critic.b.weight"


def test_fires_as_a_trap_on_a_single_reading():
    fires(DeadUnits(), layers(lambda i: 0.95, readings=1))


def test_quiet_when_half_the_units_are_off():
    quiet(DeadUnits(), layers(lambda i: 0.5))


def test_quiet_when_the_share_is_high_only_for_a_while():
    quiet(DeadUnits(), layers(lambda i: 0.95 if i < 5 else 0.6))


def test_quiet_when_the_rows_are_those_of_actions_not_taken():
    quiet(DeadUnits(), rows({"critic.head.weight": 0.95}))


def test_quiet_when_a_batch_has_few_rows():
    quiet(DeadUnits(), rows({"critic.b.weight": 0.95}, rows_=4.0))


def test_quiet_when_a_layer_without_gradient_goes_on_changing():
    quiet(DeadUnits(), rows({"critic.b.weight": 1.0}, norm=lambda i: 1.0 + 0.01 * i))


def test_declines_when_all_observations_are_the_same():
    not_enough(DeadUnits(), layers(lambda i: 1.0, **{"obs/min": 0.0, "obs/max": 0.0}))


def test_declines_after_the_first_updates():
    not_enough(DeadUnits(), layers(lambda i: 0.95, readings=3))
