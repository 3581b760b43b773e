from rldebug.rules.buffer.memory_of_another_episode import MemoryOfAnotherEpisode
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, returns


def test_fires_where_the_return_is_that_of_one_who_forgets():
    found = fires(MemoryOfAnotherEpisode(), ladder(passed("observed-action-reward"), returns("recall", 0.02)))
    assert "0.02" in found.seen


def test_quiet_where_it_does_not_apply():
    quiet(MemoryOfAnotherEpisode(), ladder(returns("recall", 0.02, outcome="not applicable")))
