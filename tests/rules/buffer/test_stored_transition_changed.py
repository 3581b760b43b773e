from collections import namedtuple

from rldebug.rules.buffer.stored_transition_changed import StoredTransitionChanged
from tests.judge import quiet
from tests.rules.crashes import crashed, names

Row = namedtuple("Row", "obs reward")


def test_fires_when_a_field_is_assigned():
    def program():
        row = Row(1, 2)
        row.reward = 3

    names(StoredTransitionChanged(), crashed(program))


def test_fires_when_an_item_is_assigned():
    def program():
        row = (1, 2)
        row[0] = 3

    names(StoredTransitionChanged(), crashed(program))


def test_quiet_when_a_field_does_not_exist():
    def program():
        row = Row(1, 2)
        return row.done

    quiet(StoredTransitionChanged(), crashed(program))
