from rldebug.evidence.run import Run
from rldebug.rules.advantage.advantage_outliers import AdvantageOutliers
from tests.judge import fires, not_enough, quiet

N = 20


def run(high, rows=512.0):
    return Run.from_series(
        {
            "advantage/mean": [0.0] * N,
            "advantage/std": [1.0] * N,
            "advantage/min": [-2.0] * N,
            "advantage/max": high,
            "batch/rows": [rows] * N,
        }
    )


def test_fires_when_one_row_outweighs_the_rest():
    assert fires(AdvantageOutliers(), run([15.0] * N)).severity == "note"


def test_quiet_when_rows_are_within_a_few_standard_deviations():
    quiet(AdvantageOutliers(), run([6.0] * N))


def test_quiet_when_outliers_are_rare():
    quiet(AdvantageOutliers(), run([15.0] * 5 + [4.0] * 15))


def test_declines_on_small_batches():
    not_enough(AdvantageOutliers(), run([7.0] * N, rows=64.0))
