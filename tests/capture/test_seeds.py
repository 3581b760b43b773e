import functools
import pickle
import random

import numpy as np
import pytest
import torch

from rldebug.capture import seeds
from tests.capture.fake import listening


def test_every_generator_is_noted_with_its_seed_and_line():
    with listening(seeds) as session:
        torch.manual_seed(3)
        np.random.seed(4)
        random.seed("five")
        np.random.default_rng(6)
    noted = session.noted("seed")
    assert [(each["what"], each["value"]) for each in noted] == [
        ("torch", 3),
        ("numpy", 4),
        ("python", "five"),
        ("generator", 6),
    ]
    assert {each["line"][0].rpartition("/")[2] for each in noted} == {"test_seeds.py"}
    assert len({each["line"][1] for each in noted}) == 4


def test_seeding_again_while_training_is_counted_with_the_updates():
    with listening(seeds) as session:
        for update in range(100):
            session.updates = update
            torch.manual_seed(0)
    place = session.only("seeding")
    assert (place["times"], place["same"], place["again"], place["restored"]) == (100, 99, 99, 0)
    assert [each["update"] for each in place["calls"][:3]] == [0, 1, 2]
    assert len(place["calls"]) <= 64
    assert len(session.noted("seed")) < 16


def test_another_seed_each_time_is_not_the_same_again():
    with listening(seeds) as session:
        for update in range(10):
            session.updates = update
            np.random.seed(update)
    assert session.only("seeding")["same"] == 0


def test_a_generator_that_is_put_back_is_known():
    with listening(seeds) as session:
        for update in range(5):
            session.updates = update
            with torch.random.fork_rng():
                torch.manual_seed(0)
    assert session.only("seeding")["restored"] == 5


def test_what_is_drawn_stays_the_same_and_everything_is_put_back():
    before = (torch.manual_seed, np.random.seed, random.seed, np.random.default_rng)
    torch.manual_seed(7)
    np.random.seed(7)
    expected = torch.rand(3), np.random.rand(3), np.random.default_rng(7).random()
    with listening(seeds):
        torch.manual_seed(7)
        np.random.seed(7)
        drawn = torch.rand(3), np.random.rand(3), np.random.default_rng(7).random()
    assert torch.equal(drawn[0], expected[0])
    assert np.array_equal(drawn[1], expected[1])
    assert drawn[2] == expected[2]
    assert (torch.manual_seed, np.random.seed, random.seed, np.random.default_rng) == before


def test_seeding_functions_can_still_be_sent_to_another_process():
    with listening(seeds):
        for each in (torch.manual_seed, np.random.seed, random.seed, np.random.default_rng, torch.cuda.manual_seed_all):
            assert pickle.loads(pickle.dumps(functools.partial(each, 3))).func is each


@pytest.mark.parametrize(("source", "noted"), [("g = torch.Generator().manual_seed(1)", 1), ("x = torch.rand(3)", 0)])
def test_generators_of_the_programs_own_are_found_in_its_source(monkeypatch, source, noted):
    monkeypatch.setattr(seeds, "user_sources", lambda: {"train.py": source})
    with listening(seeds) as session:
        pass
    assert [each["what"] for each in session.noted("seed")] == ["private"] * noted


def test_a_seed_that_is_refused_is_refused_as_before():
    with listening(seeds) as session:
        with pytest.raises(ValueError, match="Seed must be between"):
            np.random.seed(-1)
        assert not session.notes
