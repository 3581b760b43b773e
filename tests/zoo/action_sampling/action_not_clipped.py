"""Gaussian actions go to the environment as they are drawn, outside its bounds."""

BASE = "ppo_continuous"
REPLACE = [("self.env.step(env_action)", "self.env.step(action.numpy())")]
EXPECT = "ACT002"
TRAIN = {"updates": 6}
