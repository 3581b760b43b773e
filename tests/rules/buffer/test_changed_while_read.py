from collections import deque

from rldebug.rules.buffer.changed_while_read import ChangedWhileRead
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_deque_grows_meanwhile():
    def program():
        buffer = deque([1])
        for each in buffer:
            buffer.append(each)

    names(ChangedWhileRead(), crashed(program))


def test_quiet_when_a_deque_is_empty():
    def program():
        return deque().popleft()

    quiet(ChangedWhileRead(), crashed(program))
