"""Random actions are drawn from one too few: with two actions, exploration always takes the first."""

BASE = "dqn"
REPLACE = [("action = int(rng.integers(n_actions))", "action = int(rng.integers(n_actions - 1))")]
EXPECT = "EXP001"
TRAIN = {"updates": 1500}
