from tests.programs.ranks import child, found, last

CODE = "MPR355"


def test_fires_where_one_waits_for_who_has_ended():
    one = child(0, last=last(41, waits=True, numel=1), state="crashed")
    (finding,) = found(CODE, one, child(1, last=last(40), state="finished"))
    assert finding.message == "rank 0 waits in a collective that rank 1 never calls"
    assert finding.seen.startswith("rank 0 waits in call 41, all_reduce of 1 numbers (train.py:80)")
    assert finding.where.line == 80


def test_fires_where_they_wait_in_different_ones():
    one = child(0, last=last(41, waits=True, what="barrier", numel=None), state="stopped")
    (finding,) = found(CODE, one, child(1, last=last(41, waits=True), state="crashed"))
    assert "different collectives" in finding.message


def test_fires_where_the_other_came_back_from_another_one_and_went_on():
    one = child(
        0, last={**last(42, waits=True), "recent": [[40, "all_reduce", 128, None], [41, "all_reduce", 2, None]]}
    )
    (finding,) = found(CODE, one, child(1, last={**last(41, waits=True), "recent": [[40, "all_reduce", 128, None]]}))
    assert "different collectives" in finding.message
    assert "all_reduce of 2 numbers" in finding.seen


def test_quiet_where_the_other_went_on_from_the_same_one():
    one = child(0, last={**last(42, waits=True), "recent": [[41, "all_reduce", 128, None]]})
    assert not found(CODE, one, child(1, last=last(41, waits=True)))


def test_quiet_where_all_came_back():
    assert not found(CODE, *(child(each, last=last(41), state="finished") for each in (0, 1)))


def test_quiet_where_the_other_was_killed_or_failed_or_is_on_its_way():
    one = child(0, last=last(41, waits=True), state="crashed")
    for state in ("lost", "crashed", "running", "stopped", "interrupted"):
        assert not found(CODE, one, child(1, last=last(40), state=state))
    assert not found(CODE, one, child(1, last=last(41, waits=True), state="stopped"))
