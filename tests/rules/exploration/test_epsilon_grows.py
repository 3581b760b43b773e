from rldebug.evidence.run import Run
from rldebug.rules.exploration.epsilon_grows import EpsilonGrows
from tests.judge import fires, not_enough, quiet


def run_with(epsilon):
    return Run.from_series({"exploration/epsilon": epsilon})


def test_fires_when_the_schedule_is_inverted():
    fires(EpsilonGrows(), run_with([0.05 + 0.01 * i for i in range(60)]))


def test_quiet_when_epsilon_decays():
    quiet(EpsilonGrows(), run_with([1.0 - 0.01 * i for i in range(60)]))


def test_quiet_when_epsilon_is_constant():
    quiet(EpsilonGrows(), run_with([0.1] * 60))


def test_quiet_when_the_schedule_restarts():
    quiet(EpsilonGrows(), run_with([1.0 - 0.05 * (i % 15) for i in range(62)]))


def test_quiet_when_the_run_ends_just_after_a_restart():
    quiet(EpsilonGrows(), run_with([0.5 - 0.01 * i for i in range(40)] + [1.0] * 6))


def test_declines_on_a_handful_of_readings():
    not_enough(EpsilonGrows(), run_with([0.1, 0.5, 0.9]))
