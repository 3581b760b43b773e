"""The advantage is r − V: the reward of the step in place of the return (ADV-21)."""

ALGO = "ppo"
REPLACE = [
    (
        'flat |= {"advantage": advantage.flatten(), "target": target.flatten()}',
        'flat |= {"advantage": (reward - value).flatten(), "target": target.flatten()}',
    ),
]
RUNG = "two-step-credit"
EXPECT = "ADV009"
SUSPECT = "advantage"
CONTROLS = True
