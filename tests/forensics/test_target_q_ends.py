import numpy as np

from rldebug.forensics.target_q_ends import opposed_at_ends

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
