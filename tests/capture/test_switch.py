import os

from rldebug.capture.switch import GROUPS, Switchboard


class Owner:
    def method(self):
        return "own"

    @staticmethod
    def still():
        return "still"


class Heir(Owner):
    pass


def test_what_was_put_in_place_is_put_back():
    switch = Switchboard()
    before = dict(vars(Owner))
    switch.replace("seeds", Owner, "method", lambda original: lambda self: original(self) + "!")
    switch.replace("seeds", Owner, "still", lambda original: staticmethod(lambda: "moved"))
    switch.replace("seeds", Heir, "method", lambda original: lambda self: "heir's")
    assert (Owner().method(), Owner.still(), Heir().method()) == ("own!", "moved", "heir's")
    switch.undo()
    assert (Owner().method(), Owner.still(), Heir().method()) == ("own", "still", "own")
    assert vars(Owner)["still"] is before["still"]
    assert "method" not in vars(Heir)


def test_what_somebody_put_on_top_stays():
    switch = Switchboard()
    switch.replace("seeds", Owner, "method", lambda original: lambda self: original(self) + "!")
    ours = Owner.method
    Owner.method = lambda self: "theirs"
    try:
        switch.undo()
        assert Owner().method() == "theirs"
    finally:
        Owner.method = ours
        del Owner.method
        Owner.method = lambda self: "own"


def test_the_first_exception_switches_a_group_off_and_is_listed():
    switch = Switchboard()
    calls = []

    def look(value):
        calls.append(value)
        raise ValueError("no such thing")

    assert switch.guard("networks", look, 1) is None
    assert switch.guard("networks", look, 2) is None
    assert calls == [1]
    assert "no such thing" in switch.broken["capture/networks"]
    assert switch.on("seeds")
    assert not switch.on("networks")


def test_a_group_that_is_not_wanted_is_left_alone():
    switch = Switchboard(without=("seeds",))
    switch.replace("seeds", Owner, "method", lambda original: lambda self: "watched")
    assert Owner().method() == "own"


def test_nothing_is_on_in_a_forked_process():
    switch = Switchboard()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, b"1" if switch.on("seeds") else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"0"
    assert switch.on("seeds")


def test_asleep_nothing_is_heard_and_afterwards_what_was_before():
    switch = Switchboard(without=("seeds",))
    held = switch.off
    with switch.asleep():
        assert not any(switch.on(group) for group in GROUPS)
    assert switch.off == {"seeds"}
    assert switch.off is held
