from rldebug.evidence.run import Run
from rldebug.rules.buffer.staleness_grows import StalenessGrows
from tests.judge import fires, not_enough, quiet

UPDATES = [16 * i for i in range(40)]


def run(mean, largest=None, steps=4, **more):
    numbers = {"batch/staleness_mean": mean, "batch/staleness_max": largest or [each + 1.0 for each in mean], **more}
    return Run.from_series(numbers, every=16, env_steps_per_update=steps)


def test_fires_when_the_age_grows_by_a_step_per_update():
    found = fires(StalenessGrows(), run([float(each) for each in UPDATES]))
    assert found.severity == "warning"
    assert "624" in found.seen


def test_fires_as_a_note_when_a_replay_buffer_takes_in_nothing_new():
    stuck = [float(max(each - 40, each / 2)) for each in UPDATES]
    found = fires(StalenessGrows(), run(stuck, **{"replay/stuck": [0.0] * 40}))
    assert found.severity == "note"


def test_fires_as_a_note_when_rollouts_may_just_not_be_handed_over_any_more():
    ages = [float(each) for each in UPDATES]
    assert fires(StalenessGrows(), run(ages, largest=ages)).severity == "note"


def test_fires_as_a_warning_when_the_rows_are_those_of_the_old_rollout():
    ages = [float(each) for each in UPDATES]
    more = {"policy/logp_from_rollout": [1.0] * 40}
    assert fires(StalenessGrows(), run(ages, largest=ages, **more)).severity == "warning"


def test_quiet_when_a_replay_buffer_is_still_filling():
    quiet(StalenessGrows(), run([each / 2 for each in UPDATES], **{"replay/stuck": [0.0] * 40}))


def test_quiet_when_a_full_ring_turns_over():
    quiet(StalenessGrows(), run([min(each / 2, 100.0) for each in UPDATES]))


def test_quiet_when_every_rollout_is_used_up():
    quiet(StalenessGrows(), run([float(each % 48) for each in UPDATES]))


def test_quiet_when_learning_from_a_fixed_data_set():
    quiet(StalenessGrows(), run([float(each) for each in UPDATES], steps=0))


def test_declines_on_a_few_readings():
    not_enough(StalenessGrows(), run([0.0, 16.0, 32.0]))
