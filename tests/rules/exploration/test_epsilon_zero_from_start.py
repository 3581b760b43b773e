from rldebug.evidence.run import Run
from rldebug.rules.exploration.epsilon_zero_from_start import EpsilonZeroFromStart
from tests.judge import fires, not_enough, quiet


def run_with(epsilon, share=None, actions=2):
    numbers = {"exploration/epsilon": epsilon}
    if share is not None:
        numbers |= {"env/action_mode_share": [share] * len(epsilon), "episode/steps": [100] * len(epsilon)}
    return Run.from_series(numbers, facts={"env": {"actions": actions}})


def test_fires_when_an_untrained_network_decides_everything():
    assert fires(EpsilonZeroFromStart(), run_with([0.0] * 20, share=0.98)).severity == "warning"


def test_only_a_note_when_no_actions_were_seen():
    assert fires(EpsilonZeroFromStart(), run_with([0.0] * 20)).severity == "note"


def test_quiet_when_random_actions_filled_the_buffer_first():
    quiet(EpsilonZeroFromStart(), run_with([0.0] * 20, share=0.53))


def test_quiet_when_epsilon_is_small_but_there():
    quiet(EpsilonZeroFromStart(), run_with([0.05] * 20, share=0.98))


def test_quiet_when_epsilon_reaches_zero_in_the_end():
    quiet(EpsilonZeroFromStart(), run_with([1.0, 0.5] + [0.0] * 20, share=0.98))


def test_declines_on_a_handful_of_readings():
    not_enough(EpsilonZeroFromStart(), run_with([0.0] * 3, share=0.98))
