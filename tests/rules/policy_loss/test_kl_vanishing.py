from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.kl_vanishing import KlVanishing
from tests.judge import fires, not_enough, quiet


def run_with(later, every=4):
    first = [0.0] + [None] * (len(later) - 1)
    return Run.from_series({"policy/first_log_ratio": first, "policy/later_log_ratio": later}, every=every)


def test_fires_when_updates_leave_the_policy_where_it_is():
    assert fires(KlVanishing(), run_with([None, *[1e-6, 3e-6] * 30])).severity == "note"


def test_quiet_when_the_policy_moves():
    quiet(KlVanishing(), run_with([None, *[0.01, 0.1] * 30]))


def test_quiet_when_the_rate_is_annealed_to_nothing():
    quiet(KlVanishing(), run_with([None, *[0.1] * 30, *[1e-5] * 30]))


def test_quiet_when_the_ratio_is_exactly_one():
    quiet(KlVanishing(), run_with([None, *[0.0] * 60]))


def test_declines_on_a_short_run():
    not_enough(KlVanishing(), run_with([None, *[1e-6] * 60], every=1))
