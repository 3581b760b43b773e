from rldebug.evidence.run import Run
from rldebug.rules.entropy.entropy_stuck_at_maximum import EntropyStuckAtMaximum
from tests.judge import fires, not_enough, quiet

RETURNS = [9.0, 12.0, 10.0, 11.0] * 25


def run_with(entropy, returns=RETURNS, every=10, **more):
    return Run.from_series(
        {
            "policy/entropy_rel": entropy,
            "policy/entropy_max": [0.693] * 100,
            "episode/return_mean": returns,
            "step/norm": [0.01] * 100,
            **more,
        },
        every=every,
    )


def test_fires_when_a_thousand_updates_leave_no_trace():
    fires(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50))


def test_quiet_when_a_slow_learner_is_on_its_way():
    quiet(EntropyStuckAtMaximum(), run_with([1 - 1e-7 * i**2 for i in range(100)]))


def test_quiet_when_the_policy_depends_more_and_more_on_the_observation():
    more = {"policy/obs_dependence": [1e-5 * i for i in range(100)]}
    quiet(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50, **more))


def test_quiet_when_the_entropy_left_the_maximum():
    quiet(EntropyStuckAtMaximum(), run_with([0.99] * 100))


def test_quiet_when_there_was_nothing_to_learn_from():
    quiet(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50, returns=[-200.0] * 100))
    quiet(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50, returns=[0.0] * 95 + [1.0] + [0.0] * 4))


def test_quiet_when_the_return_rises_all_the_same():
    quiet(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50, returns=[float(i) for i in range(100)]))


def test_declines_on_a_short_run():
    not_enough(EntropyStuckAtMaximum(), run_with([0.9995, 0.9994] * 50, every=2))
