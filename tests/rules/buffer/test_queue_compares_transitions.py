import heapq

import numpy as np

from rldebug.rules.buffer.queue_compares_transitions import QueueComparesTransitions
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_two_priorities_are_equal():
    def program():
        heap = [(1.0, {"reward": 1})]
        heapq.heappush(heap, (1.0, {"reward": 2}))

    names(QueueComparesTransitions(), crashed(program))


def test_fires_when_arrays_are_compared():
    def program():
        heap = [(1.0, np.zeros(2))]
        heapq.heappush(heap, (1.0, np.ones(2)))

    names(QueueComparesTransitions(), crashed(program))


def test_quiet_when_a_vector_of_flags_is_used_as_one():
    def program():
        done = np.array([True, False])
        if done:
            return 1

    quiet(QueueComparesTransitions(), crashed(program))
