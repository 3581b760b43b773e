import math

import pytest

from rldebug.evidence.diff import compare, stage_of
from rldebug.evidence.run import Reading, Run, RunError

FLOW = ["env/x", "reward/mean", "value/mean", "loss/policy", "grad/norm@policy", "weight/norm", "user/mine"]


def test_readings_that_part_together_come_in_the_order_of_the_data_flow():
    a = Run.from_series({name: [1.0, 1.0] for name in reversed(FLOW)})
    b = Run.from_series({name: [1.0, 2.0] for name in FLOW})
    parting = compare(a, b).parting
    assert parting is not None
    assert (parting.update, parting.env_step) == (1, 64)
    assert [each.name for each in parting.differences] == FLOW
    assert [each.stage for each in parting.differences] == [
        "environment", "rollout", "values", "loss", "gradient", "weights", "yours"
    ]  # fmt: skip


def test_the_earlier_update_wins_over_the_earlier_stage():
    a = Run.from_series({"weight/norm": [1.0, 1.0, 1.0], "reward/mean": [1.0, 1.0, 1.0]})
    b = Run.from_series({"weight/norm": [1.0, 2.0, 2.0], "reward/mean": [1.0, 1.0, 2.0]})
    parting = compare(a, b).parting
    assert parting is not None
    assert [each.name for each in parting.differences] == ["weight/norm"]


def test_only_updates_that_both_recorded_are_compared():
    a = Run.from_series({"value/mean": [0.0, 1.0, 2.0, 3.0, 4.0]})
    b = Run.from_series({"value/mean": [0.0, 2.0, 9.0]}, every=2)
    comparison = compare(a, b)
    assert comparison.common == 3
    assert comparison.parting is not None
    assert comparison.parting.update == 4


def test_not_a_number_is_the_same_as_itself_and_as_nothing_else():
    nan = math.nan
    assert compare(Run.from_series({"value/mean": [nan]}), Run.from_series({"value/mean": [nan]})).parting is None
    for other in (1.0, math.inf):
        assert compare(Run.from_series({"value/mean": [nan]}), Run.from_series({"value/mean": [other]}), 1.0).parting


def test_a_reading_that_one_of_them_did_not_take_is_a_parting():
    a = Run.from_series({"value/mean": [1.0, 1.0]})
    b = Run.from_series({"value/mean": [1.0, None], "reward/mean": [None, 2.0]})
    comparison = compare(a, b)
    assert comparison.parting is not None
    assert comparison.parting.differences[0].b is None
    assert comparison.only == ((), ("reward/mean",))


def test_clocks_and_machines_are_left_out():
    a = Run.from_series({"pace/updates": [1.0], "host/resident": [1.0], "value/mean": [1.0]})
    b = Run.from_series({"pace/updates": [2.0], "host/resident": [2.0], "value/mean": [1.0]})
    assert compare(a, b).parting is None


def test_a_count_of_env_steps_that_differs_is_seen():
    a = Run.of([Reading(0, 64, 0.0, {"value/mean": 1.0})])
    b = Run.of([Reading(0, 65, 0.0, {"value/mean": 1.0})])
    parting = compare(a, b).parting
    assert parting is not None
    assert parting.differences[0].name == "env_step"
    assert parting.differences[0].stage == "environment"


@pytest.mark.parametrize(("size", "tolerance", "parts"), [(1.0, 1e-5, True), (1.0, 1e-3, False), (1e-9, 1e-5, False)])
def test_tolerance_is_relative_except_near_zero(size, tolerance, parts):
    a, b = Run.from_series({"value/mean": [size]}), Run.from_series({"value/mean": [size * 1.0001]})
    assert (compare(a, b, tolerance).parting is not None) == parts


def test_parameters_that_differ_are_named():
    a = Run.from_series({"grad/norm": [1.0]}, tables={"parameters": {"policy.0.weight": [1.0], "policy.0.bias": [1.0]}})
    b = Run.from_series({"grad/norm": [2.0]}, tables={"parameters": {"policy.0.weight": [2.0], "policy.0.bias": [1.0]}})
    parting = compare(a, b).parting
    assert parting is not None
    assert parting.rows == ("policy.0.weight",)


def test_settings_that_differ():
    a = Run.from_series({"x/y": [1.0]}, meta={"seed": 1, "gamma": 0.9, "pid": 1, "versions": {"torch": "2.4"}})
    b = Run.from_series({"x/y": [1.0]}, meta={"seed": 2, "gamma": 0.9, "pid": 2, "versions": {"torch": "2.5"}})
    assert compare(a, b).settings == {"seed": (1, 2), "versions.torch": ("2.4", "2.5")}


def test_nothing_in_common():
    a = Run.of([Reading(0, 0, 0.0, {})])
    b = Run.of([Reading(1, 0, 0.0, {})])
    with pytest.raises(RunError, match="no recorded update in common"):
        compare(a, b)


def test_every_family_of_metrics_has_a_stage():
    from rldebug import catalogue

    families = {metric.name.partition("/")[0] for metric in catalogue.metrics() if metric.kind == "number"}
    assert {each for each in families - {"pace", "host", "gpu"} if stage_of(each) == "yours"} == set()
