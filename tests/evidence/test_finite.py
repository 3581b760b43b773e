from rldebug.evidence.finite import first_nonfinite, nonfinite_at
from rldebug.evidence.run import Run

NAN = float("nan")


def test_none_where_all_is_finite_or_merely_undefined():
    assert first_nonfinite(Run.of([])) is None
    run = Run.from_series({"value/mean": [0.1, 0.2], "value/target_corr": [NAN, NAN], "value/residual_var": [NAN, NAN]})
    assert first_nonfinite(run) is None


def test_the_first_reading_counts_and_in_it_the_stage_furthest_upstream():
    run = Run.from_series(
        {
            "weight/norm": [7.0, 7.0, NAN, NAN],
            "loss/value": [0.1, 0.1, NAN, NAN],
            "target/mean": [0.5, 0.5, NAN, NAN],
            "reward/mean": [1.0, 1.0, 1.0, NAN],
        }
    )
    first = first_nonfinite(run)
    assert first is not None
    assert (first.stage, first.series, first.reading.update) == ("target", "target/mean", 2)
    assert first.last_clean is not None
    assert first.last_clean.update == 1
    assert first.also == ("loss", "weight")
    assert first.spread is True


def test_a_stage_behind_finite_outputs_is_sure_however_many_updates_were_left_out():
    numbers = {"value/mean": [0.1, 0.1, 0.1], "loss/value": [0.1, 0.1, NAN], "weight/norm": [7.0, 7.0, NAN]}
    first = first_nonfinite(Run.from_series(numbers, every=32))
    assert first is not None
    assert first.sure
    first = first_nonfinite(Run.from_series({**numbers, "value/mean": [0.1, 0.1, NAN]}, every=32))
    assert first is not None
    assert (first.stage, first.sure) == ("network output", False)


def test_an_environment_that_was_fed_nan_is_not_to_blame_unless_the_weights_were_fine():
    numbers = {
        "env/obs_nonfinite": [0.0, 0.0, 1.0],
        "env/action_nonfinite": [0.0, 0.0, 1.0],
        "weight/norm": [7.0, 7.0, NAN],
    }
    first = first_nonfinite(Run.from_series(numbers, every=32))
    assert first is not None
    assert first.stage == "network output"
    first = first_nonfinite(Run.from_series({**numbers, "weight/norm": [7.0, 7.0, 7.0]}, every=32))
    assert first is not None
    assert first.stage == "observation"


def test_whether_it_spread_is_known_only_where_something_further_down_is_recorded():
    first = first_nonfinite(Run.from_series({"reward/mean": [1.0, NAN]}))
    assert first is not None
    assert first.spread is None
    first = first_nonfinite(Run.from_series({"reward/mean": [1.0, NAN, 1.0], "loss/value": [0.1, 0.1, 0.1]}))
    assert first is not None
    assert first.spread is False


def test_on_one_reading_each_stage_answers_for_itself():
    run = Run.from_series({"loss/policy": [NAN], "grad/norm": [NAN], "weight/norm": [7.0]})
    assert nonfinite_at(run, "loss") is not None
    assert nonfinite_at(run, "gradient") is not None
    assert nonfinite_at(run, "weight") is None


def test_lines_of_a_log_leave_updates_out_however_they_are_numbered():
    numbers = {"value/mean": [0.1, 0.1, NAN], "loss/value": [0.1, 0.1, NAN]}
    for meta, sure in (({}, True), ({"log": {}}, False)):
        first = first_nonfinite(Run.from_series(numbers, meta=meta))
        assert first is not None
        assert first.sure is sure
