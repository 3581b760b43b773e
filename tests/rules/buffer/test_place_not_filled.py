import random
from collections import deque

import numpy as np

from rldebug.rules.buffer.place_not_filled import PlaceNotFilled
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_places_are_drawn_below_the_capacity():
    def program():
        capacity, slots = 500, {place: (place, 0.0) for place in range(4)}
        keys = random.sample(range(100, capacity), 8)
        return [slots[each] for each in keys]

    finding = names(PlaceNotFilled(), crashed(program))
    assert "holds 4 rows" in finding.message
    assert "keys = random.sample" in finding.seen


def test_fires_for_a_queue():
    def program():
        rows = deque([(1, 2)], maxlen=100)
        places = np.random.randint(50, 100, size=8)
        for place in places:
            rows[place]

    names(PlaceNotFilled(), crashed(program))


def test_fires_when_both_ends_are_included():
    def program():
        rows = [(1, 2)]
        return rows[random.randint(1, len(rows))]

    assert "randrange" in names(PlaceNotFilled(), crashed(program)).help


def test_quiet_when_the_place_was_counted():
    def program():
        rows, place = [(1, 2)], 0
        while True:
            rows[place]
            place += 1

    quiet(PlaceNotFilled(), crashed(program))


def test_quiet_when_keys_are_no_places():
    def program():
        episodes, chosen = {7: [1], 12: [2]}, random.choice([30])
        return episodes[chosen]

    quiet(PlaceNotFilled(), crashed(program))
