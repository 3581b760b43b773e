from dataclasses import replace

import numpy as np
import pytest

from rldebug.evidence import ladder_signs as signs
from tests.rules.ladders import GROWING, STILL, chances, ladder, passed, returns, values


def test_values_are_shown_beside_the_right_ones():
    told = signs.shown(values("delayed-reward", [0.02, 1.01]))
    assert told == {
        "seen": "rung 3, delayed-reward: worth first 0.02, second 1.01",
        "expected": "first 0.90, second 1.00",
    }


def test_of_many_looks_the_four_furthest_off_are_shown_in_their_order():
    learned = np.array([0.0, 5.0, 0.0, 4.0, 3.0, 0.0, 2.0])
    assert signs.worst(learned, np.zeros(7)) == [1, 3, 4, 6]


def test_a_policy_is_shown_by_the_chance_of_its_right_action():
    assert "25% for here" in signs.shown(chances("action-reward", [0.75, 0.25]))["seen"]


def test_numbers_are_shown_as_numbers():
    assert signs.shown(chances("bound-optimum", [1.0]))["seen"].endswith("the number played for here 1.00")


def test_returns_are_shown_beside_what_chance_has():
    told = signs.shown(returns("moving-dot", 0.03))
    assert "a mean return of 0.03" in told["seen"]
    assert told["expected"] == "a mean return near 1.00; acting at random has 0.00"


def test_a_rung_without_tables_shows_its_reason():
    rung = replace(values("constant-reward", [0.3]), right=None)
    assert signs.shown(rung)["seen"].endswith(rung.reason)


def test_still_is_no_change_at_all():
    assert signs.still(values("constant-reward", [0.4], errors=STILL))
    assert not signs.still(values("constant-reward", [0.4], errors=(*STILL[:-1], STILL[0] + 1e-4)))
    assert not signs.still(values("constant-reward", [0.4], errors=STILL[:3]))


def test_who_acts_by_values_alone_shows_q_and_no_policy():
    assert signs.values_alone(ladder(chances("action-reward", [1.0, 0.0], shows=("q",))))
    assert not signs.values_alone(ladder(chances("action-reward", [1.0, 0.0], shows=("value", "policy"))))


@pytest.mark.parametrize(
    ("lam", "shows", "expected"),
    [(0.95, ("value", "policy"), False), (None, ("q",), True), (None, ("value", "policy", "bonus"), True)],
)
def test_who_learns_through_its_critic(lam, shows, expected):
    assert signs.through_critic(ladder(chances("action-reward", [1.0, 0.0], shows=shows), lam=lam)) is expected


def test_alike_is_the_mean_for_all():
    assert signs.alike(values("observed-reward", [0.1, -0.1]))
    assert not signs.alike(values("observed-reward", [1.0, 0.9]))
    assert not signs.alike(values("constant-reward", [0.1]))


def test_same_to_the_bit_forgives_no_difference():
    assert signs.same_to_the_bit(values("observed-reward", [0.1, 0.1]), "value")
    assert not signs.same_to_the_bit(values("observed-reward", [0.1, 0.1], [0.1, 0.101]), "value")
    assert not signs.same_to_the_bit(passed("observed-reward")[0], "value")


def test_values_that_run_away_have_a_direction():
    assert signs.runs_away(values("constant-reward", [9.0], errors=GROWING)) == 1
    assert signs.runs_away(values("constant-reward", [-9.0], errors=GROWING)) == -1
    assert signs.runs_away(values("constant-reward", [9.0])) == 0


def test_a_leak_has_the_sign_of_what_follows():
    assert signs.leaks(values("leaking-return", [0.8, -0.8, 1.0]))
    assert not signs.leaks(values("leaking-return", [-0.8, 0.8, 1.0]))
    assert not signs.leaks(values("leaking-return", [0.0, 0.0, 0.5]))


def test_faults_from_below_end_with_the_one_that_is_named():
    assert signs.up_to("BUF010") == ("OPT010", "BUF010")
    assert signs.up_to("POL016")[-1] == "POL016"
    with pytest.raises(ValueError, match="tuple"):
        signs.up_to("POL999")
