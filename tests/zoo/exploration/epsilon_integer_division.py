"""The progress of the schedule is an integer division: it is 0 all along, and epsilon stays at its start."""

BASE = "dqn"
REPLACE = [('step / (cfg["eps_fraction"] * total_steps)', "step // total_steps")]
EXPECT = "EXP002"
TRAIN = {"updates": 2000}
