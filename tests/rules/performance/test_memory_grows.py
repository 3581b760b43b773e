import numpy as np

from rldebug.evidence.run import Run
from rldebug.rules.performance.memory_grows import MemoryGrows
from tests.judge import fires, not_enough, quiet

MB = 2.0**20
FLAT = [400.0 * MB] * 100


def test_fires_as_a_warning_when_tensors_pile_up_on_the_gpu():
    run = Run.from_series({"host/resident": FLAT, "gpu/allocated": list(MB * np.linspace(500, 4000, 100))})
    found = fires(MemoryGrows(), run)
    assert found.severity == "warning"
    assert "GPU" in found.message


def test_fires_as_a_warning_when_an_on_policy_loop_grows_by_gigabytes():
    assert fires(
        MemoryGrows(), Run.from_series({"host/resident": list(MB * np.linspace(400, 6000, 100))})
    ).severity == ("warning")


def test_fires_as_a_note_when_a_replay_buffer_may_be_filling():
    numbers = {"host/resident": list(MB * np.linspace(400, 6000, 100)), "replay/stuck": [0.0] * 100}
    assert fires(MemoryGrows(), Run.from_series(numbers)).severity == "note"


def test_fires_as_a_note_after_a_few_seconds():
    assert (
        fires(MemoryGrows(), Run.from_series({"host/resident": list(MB * np.linspace(400, 1000, 8))})).severity
        == "note"
    )


def test_quiet_when_memory_is_flat():
    quiet(MemoryGrows(), Run.from_series({"host/resident": FLAT}))


def test_quiet_when_it_grew_and_levelled_out():
    grown = [*(MB * np.linspace(400, 2000, 50)), *[2000.0 * MB] * 50]
    quiet(MemoryGrows(), Run.from_series({"host/resident": grown}))


def test_quiet_when_libraries_were_loaded_at_the_start():
    quiet(MemoryGrows(), Run.from_series({"host/resident": [200.0 * MB] * 5 + [900.0 * MB] * 95}))


def test_quiet_when_it_grows_by_a_little():
    quiet(MemoryGrows(), Run.from_series({"host/resident": list(MB * np.linspace(400, 480, 100))}))


def test_declines_on_the_first_seconds():
    not_enough(MemoryGrows(), Run.from_series({"host/resident": [400.0 * MB] * 3}))
