from itertools import accumulate

from tests.programs.ranks import child, found

CODE = "MPR354"


def rank(number, *counts, calls=400):
    return child(number, phases=[0, *accumulate(counts)], calls=calls, updates=sum(counts))


def test_fires_where_one_rank_stops_early():
    (finding,) = found(CODE, rank(0, 16, 16, 16, 16, 16), rank(1, 16, 4, 16, 16, 16))
    assert finding.seen.startswith("16 updates on rank 0 and 4 on rank 1, of rollout 2")


def test_quiet_where_all_stop_together():
    assert not found(CODE, rank(0, 16, 4, 16, 8, 16), rank(1, 16, 4, 16, 8, 16))


def test_quiet_where_one_rank_plays_in_the_midst_of_its_updates():
    assert not found(CODE, rank(0, 16, 8, 8, 16, 8, 8, 16), rank(1, 16, 16, 16, 16, 16))


def test_quiet_where_they_learn_as_many_steps_as_their_episodes_had():
    assert not found(CODE, rank(0, 21, 34, 18, 25, 40), rank(1, 15, 33, 28, 12, 37))


def test_quiet_where_each_trains_by_itself():
    assert not found(CODE, rank(0, 16, 16, 16, 16, 16, calls=1), rank(1, 16, 4, 16, 16, 16, calls=1))
