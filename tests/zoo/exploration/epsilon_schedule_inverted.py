"""Start and end of the epsilon schedule are swapped: the agent begins greedy and ends random."""

BASE = "dqn"
REPLACE = [('"eps_start": 1.0', '"eps_start": 0.05'), ('"eps_end": 0.05', '"eps_end": 1.0')]
EXPECT = "EXP003"
TRAIN = {"updates": 1000}
