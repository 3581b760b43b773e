from rldebug.rules.autograd_graph.vanishing_gradient import VanishingGradient
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import READINGS, detailed, row


def run(gradients, readings=READINGS, bias=0.0):
    """One table per reading: `gradients(i)` gives the layers' gradients at the i-th."""
    tables = []
    for i in range(readings):
        rows = {}
        for layer, size in enumerate(gradients(i)):
            rows[f"policy.{layer}.weight"] = row(size, zero_rows=0.0)
            rows[f"policy.{layer}.bias"] = row(bias if layer == 0 and bias else size)
        tables.append({"parameters": rows})
    return detailed(tables, facts={"gradients": {}})


def test_fires_when_each_layer_passes_on_a_thousandth():
    finding = fires(VanishingGradient(), run(lambda i: (1e-9, 1e-6, 1e-3, 1.0)))
    assert finding.where.tensor == "policy.0.weight"


def test_quiet_when_it_falls_by_four_orders_of_magnitude():
    quiet(VanishingGradient(), run(lambda i: (1e-4, 1e-3, 1e-2, 1.0)))


def test_quiet_when_only_the_start_is_from_a_tiny_head():
    quiet(VanishingGradient(), run(lambda i: (1e-9, 1e-9, 1.0) if i < 3 else (0.1, 0.2, 1.0)))


def test_quiet_when_observations_are_zero_and_the_first_bias_learns():
    quiet(VanishingGradient(), run(lambda i: (1e-12, 0.1, 1.0), bias=0.1))


def test_declines_where_gradients_are_exactly_zero_or_the_network_is_shallow():
    not_enough(VanishingGradient(), run(lambda i: (0.0, 0.0, 1.0)))
    not_enough(VanishingGradient(), run(lambda i: (1e-9, 1.0)))
