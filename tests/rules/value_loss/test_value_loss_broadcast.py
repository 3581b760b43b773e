from rldebug.evidence.run import Run
from rldebug.rules.value_loss.value_loss_broadcast import ValueLossBroadcast
from tests.judge import fires, not_enough, quiet


def run(rows, pairs):
    return Run.from_series(
        {"loss/value_mismatch": rows, "loss/value_outer_mismatch": pairs},
        facts={"shapes": {"value": [64, 1], "target": [64]}, "calls": {"update": ["train.py", 88]}},
    )


def test_fires_on_the_first_update_with_the_shapes_and_the_line():
    finding = fires(ValueLossBroadcast(), run([0.3], [1e-7]))
    assert "value (64, 1), target (64,)" in finding.seen
    assert (finding.where.file, finding.where.line) == ("train.py", 88)


def test_fires_when_predictions_are_nearly_constant():
    fires(ValueLossBroadcast(), run([0.014, 0.001, 0.0005], [1e-7, 2e-7, 0.0]))


def test_quiet_when_the_loss_is_over_rows():
    quiet(ValueLossBroadcast(), run([1e-7, 2e-7], [0.3, 0.2]))


def test_quiet_when_both_formulas_agree():
    quiet(ValueLossBroadcast(), run([1e-7, 1e-7], [1e-7, 1e-7]))


def test_quiet_when_the_loss_is_some_other_formula():
    quiet(ValueLossBroadcast(), run([0.4, 0.5, 0.3], [0.2, 0.1, 0.3]))


def test_quiet_when_a_single_reading_is_near_by_chance():
    quiet(ValueLossBroadcast(), run([0.4, 0.5, 0.3], [0.2, 1e-5, 0.3]))
    quiet(ValueLossBroadcast(), run([0.4], [1e-5]))


def test_declines_when_no_loss_could_be_recomputed():
    not_enough(ValueLossBroadcast(), run([None], [None]))
