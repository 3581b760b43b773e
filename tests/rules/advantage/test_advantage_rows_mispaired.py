from rldebug.evidence.run import Run
from rldebug.rules.advantage.advantage_rows_mispaired import AdvantageRowsMispaired
from tests.judge import fires, not_enough, quiet

N = 30


def run(corr, stale=0.0, rows=64.0):
    stales = stale if isinstance(stale, list) else [stale] * N
    return Run.from_series({"advantage/residual_corr": corr, "batch/rows": [rows] * N, "batch/staleness_mean": stales})


def test_fires_when_the_two_have_nothing_to_do_with_each_other():
    fires(AdvantageRowsMispaired(), run([0.1, -0.12, 0.05, -0.04, 0.15, -0.1] * 5))


def test_quiet_when_different_estimators_agree_in_part():
    quiet(AdvantageRowsMispaired(), run([0.4, 0.3] * (N // 2)))


def test_quiet_when_only_late_batches_do_not_agree():
    quiet(AdvantageRowsMispaired(), run([0.9] * 12 + [0.0] * 18))


def test_declines_when_all_batches_were_learned_from():
    not_enough(AdvantageRowsMispaired(), run([0.0] * N, stale=5.0))


def test_declines_on_few_rows():
    not_enough(AdvantageRowsMispaired(), run([0.0] * N, rows=8.0))
