from rldebug.evidence.run import Run
from rldebug.rules.buffer.no_terminal_in_replay import NoTerminalInReplay
from tests.judge import fires, not_enough, quiet


def run(sampled, ends=1.0, rows=64.0):
    length = len(sampled)
    numbers = {
        "replay/terminated": sampled,
        "episode/terminated": [ends] * length,
        "episode/steps": [20.0] * length,
        "batch/rows": [rows] * length,
    }
    return Run.from_series(numbers)


def test_fires_when_terminations_never_come_out_of_replay():
    found = fires(NoTerminalInReplay(), run([0.0] * 40))
    assert "terminated 40 episodes" in found.seen


def test_quiet_when_one_terminal_row_was_sampled():
    quiet(NoTerminalInReplay(), run([*[0.0] * 39, 1 / 64]))


def test_declines_when_the_environment_never_terminates():
    not_enough(NoTerminalInReplay(), run([0.0] * 40, ends=0.0))


def test_declines_while_too_few_terminal_rows_were_to_be_expected():
    not_enough(NoTerminalInReplay(), run([0.0] * 5, rows=16.0))
