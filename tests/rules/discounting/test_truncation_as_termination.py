from rldebug.evidence.run import Run
from rldebug.rules.discounting.truncation_as_termination import TruncationAsTermination
from tests.judge import fires, not_enough, quiet

N = 20


def run(flagged, terminated, truncated, played=600.0, cut=0.0):
    """Per rollout of 600 steps: steps flagged terminated and truncated, and how episodes really ended in `played`."""
    flags = {} if cut is None else {"rollout/truncated": [cut / 600.0] * N}
    return Run.from_series(
        {
            "rollout/steps": [600.0] * N,
            "rollout/terminated": [flagged / 600.0] * N,
            "episode/terminated": [terminated] * N,
            "episode/truncated": [truncated] * N,
            "episode/steps": [played] * N,
            **flags,
        }
    )


def test_fires_when_an_environment_that_only_truncates_is_said_to_terminate():
    finding = fires(TruncationAsTermination(), run(flagged=3.0, terminated=0.0, truncated=3.0))
    assert finding.severity == "warning"


def test_fires_when_both_kinds_of_ending_are_flagged_terminated():
    fires(TruncationAsTermination(), run(flagged=5.0, terminated=3.0, truncated=2.0))


def test_fires_when_truncated_is_flagged_as_well():
    fires(TruncationAsTermination(), run(flagged=5.0, terminated=3.0, truncated=2.0, cut=2.0))


def test_only_a_note_when_truncated_is_not_handed_over():
    found = fires(TruncationAsTermination(), run(flagged=3.0, terminated=0.0, truncated=3.0, cut=None))
    assert found.severity == "note"


def test_quiet_when_the_flags_are_the_environments():
    quiet(TruncationAsTermination(), run(flagged=3.0, terminated=3.0, truncated=2.0, cut=2.0))


def test_quiet_when_rollouts_looked_at_are_a_part_of_all():
    quiet(TruncationAsTermination(), run(flagged=3.0, terminated=30.0, truncated=20.0, played=6000.0, cut=2.0))


def test_quiet_when_rare_truncations_leave_room_for_chance():
    quiet(TruncationAsTermination(), run(flagged=3.2, terminated=30.0, truncated=2.0, played=6000.0))


def test_declines_when_nothing_was_truncated():
    not_enough(TruncationAsTermination(), run(flagged=3.0, terminated=3.0, truncated=0.0))
