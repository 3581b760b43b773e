import numpy as np

from rldebug.forensics.target_q_ends import last_lost_at_ends, lost_at_ends, opposed_at_ends, reversed_at_ends

REWARD = np.array([0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 1.0, -1.0, 1.0, 0.0])
ENDED = np.array([False, *[True] * 8, False])
AUDIT = np.repeat([0, 1], 5)


def opposed(target):
    return opposed_at_ends(np.asarray(target), REWARD, ENDED, AUDIT, 1e-4)


def test_targets_of_the_last_steps_are_what_the_other_player_got():
    (found,) = opposed(-REWARD)
    assert (found.way, found.right, found.hit, found.rows, found.audits) == ("opposed", False, 7, 7, 2)


def test_nothing_is_said_where_they_are_their_own_rewards_or_neither():
    assert not opposed(REWARD)
    assert not opposed(0.9 * REWARD)
    assert not opposed(np.where(np.arange(10) < 4, -REWARD, REWARD))


def test_nothing_is_said_where_only_one_reward_was_ever_paid():
    paid = np.abs(REWARD)
    assert not opposed_at_ends(-paid, paid, ENDED, AUDIT, 1e-4)


PAID = np.array([1.0] * 12)
LAST = np.arange(12) >= 4


def lost(target, reward=PAID):
    return lost_at_ends(np.asarray(target), reward, ~LAST, LAST, np.arange(12) % 3, 1e-4)


def test_the_mask_was_put_on_the_reward_too_although_every_step_is_paid_the_same():
    (found,) = lost(np.where(LAST, 0.0, 20.0))
    assert (found.way, found.right, found.hit) == ("lost", False, 8)


def test_nothing_is_lost_where_the_reward_is_in_the_target_or_another_one_was_chosen():
    assert not lost(PAID)
    assert not lost(np.where(LAST, -1.0, 20.0))  # a punishment of the program's own
    paid = np.where(np.arange(12) == 0, -1.0, 1.0)
    assert not lost(np.where(LAST, -1.0, 20.0), paid)


def test_the_last_reward_of_a_window_is_lost():
    total, last = np.full(12, 0.9), np.full(12, 0.8)
    (found,) = last_lost_at_ends(total - last, total, last, LAST, np.arange(12) % 3, 1e-4)
    assert (found.way, found.hit) == ("lost", 8)
    assert not last_lost_at_ends(total, total, last, LAST, np.arange(12) % 3, 1e-4)


def test_windows_up_to_an_end_that_were_folded_from_the_wrong_side():
    paid = np.array([[-0.1, -0.1, 1.0]] * 8)
    right, wrong = paid @ np.array([1.0, 0.9, 0.81]), paid @ np.array([0.81, 0.9, 1.0])
    ended, audit = np.ones(8, dtype=bool), np.arange(8) // 4
    (found,) = reversed_at_ends(wrong, right, wrong, ended, audit, 1e-4)
    assert (found.way, found.hit, found.audits) == ("reversed", 8, 2)
    assert reversed_at_ends(right, right, wrong, ended, audit, 1e-4) == ()
