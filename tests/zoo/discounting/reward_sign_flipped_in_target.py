"""The reward enters the temporal-difference target with a minus."""

BASE = "dqn"
REPLACE = [('td_target = batch["reward"] +', 'td_target = -batch["reward"] +')]
EXPECT = "DIS005"
TRAIN = {"updates": 800}
