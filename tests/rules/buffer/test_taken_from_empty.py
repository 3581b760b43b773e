from collections import deque

from rldebug.rules.buffer.taken_from_empty import TakenFromEmpty
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_window_is_empty():
    def program():
        window = deque()
        return window.popleft()

    names(TakenFromEmpty(), crashed(program))


def test_fires_when_a_list_is_empty():
    def program():
        episodes = []
        return episodes.pop()

    names(TakenFromEmpty(), crashed(program))


def test_quiet_when_an_index_is_too_great():
    def program():
        episodes = [1]
        return episodes[3]

    quiet(TakenFromEmpty(), crashed(program))
