from rldebug.evidence.run import Run
from rldebug.rules.entropy.entropy_collapse import EntropyCollapse
from tests.judge import fires, not_enough, quiet

COLLAPSED = [0.99, 0.6, 0.2] + [0.01] * 60


def test_fires_when_entropy_drops_to_nothing_and_returns_stay_flat():
    run = Run.from_series({"policy/entropy_rel": COLLAPSED, "episode/return_mean": [9.0, 10.0, 9.5] * 21})
    finding = fires(EntropyCollapse(), run)
    assert finding.where.update is not None
    assert finding.severity == "warning"


def test_only_a_note_when_no_return_is_known():
    assert fires(EntropyCollapse(), Run.from_series({"policy/entropy_rel": COLLAPSED})).severity == "note"


def test_only_a_note_when_the_return_never_varied():
    run = Run.from_series({"policy/entropy_rel": COLLAPSED, "episode/return_mean": [-200.0] * 63})
    assert fires(EntropyCollapse(), run).severity == "note"


def test_quiet_when_entropy_levels_out_above_the_floor():
    quiet(EntropyCollapse(), Run.from_series({"policy/entropy_rel": [0.99, 0.6, 0.4] + [0.3] * 60}))


def test_quiet_when_the_return_rose_as_entropy_fell():
    run = Run.from_series(
        {"policy/entropy_rel": COLLAPSED, "episode/return_mean": [10.0 + 7 * i for i in range(63)]},
    )
    quiet(EntropyCollapse(), run)


def test_quiet_when_an_easy_task_is_solved_in_the_first_updates():
    returns = [0.1, -0.1, 0.2, 0.7] + [1.0, 0.9, 1.0] * 20
    quiet(EntropyCollapse(), Run.from_series({"policy/entropy_rel": COLLAPSED, "episode/return_mean": returns}))


def test_declines_on_a_handful_of_readings():
    not_enough(EntropyCollapse(), Run.from_series({"policy/entropy_rel": [0.9, 0.01, 0.01]}))
