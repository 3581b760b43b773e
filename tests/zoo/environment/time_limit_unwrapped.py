"""The wrappers are taken off, and with them the time limit: a pendulum never ends by itself."""

BASE = "ppo_continuous"
REPLACE = [("env = gym.make(env_id)", "env = gym.make(env_id).unwrapped")]
EXPECT = "ENV007"
TRAIN = {"updates": 4}
