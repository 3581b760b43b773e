from rldebug.rules.network.saturated_units import SaturatedUnits
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import NAN, READINGS, detailed


def run(hidden, output=0.0, readings=READINGS, **numbers):
    tables = []
    for i in range(readings):
        table = {"policy.0": [0.1] * 3 + [NAN] * 2, "policy.1": [0.1] * 3 + [NAN, hidden(i)]}
        tables.append({"layers": {**table, "policy.2": [0.1] * 3 + [NAN] * 2, "policy.3": [0.1] * 3 + [NAN, output]}})
    return detailed(tables, numbers={name: [each] * readings for name, each in numbers.items()})


def test_fires_when_a_hidden_layer_sits_at_its_bounds():
    found = fires(SaturatedUnits(), run(lambda i: 0.99))
    assert (found.severity, found.where.tensor) == ("note", "policy.1")


def test_only_a_note_at_the_output_of_the_network():
    assert fires(SaturatedUnits(), run(lambda i: 0.1, output=1.0)).severity == "note"


def test_quiet_when_half_the_units_are_saturated():
    quiet(SaturatedUnits(), run(lambda i: 0.5))


def test_quiet_when_they_come_back():
    quiet(SaturatedUnits(), run(lambda i: 0.99 if i < 6 else 0.4))


def test_declines_when_all_observations_are_the_same():
    not_enough(SaturatedUnits(), run(lambda i: 1.0, **{"obs/min": 3.0, "obs/max": 3.0}))


def test_declines_after_the_first_updates():
    not_enough(SaturatedUnits(), run(lambda i: 0.99, readings=3))
