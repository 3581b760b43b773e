"""The time limit is so short that no episode can go wrong: every return is the same."""

BASE = "reinforce"
REPLACE = [("env = gym.make(env_id)", "env = gym.make(env_id, max_episode_steps=8)")]
EXPECT = "ENV005"
TRAIN = {"updates": 60}
