"""The mask of episode ends is applied to the reward as well: the reward of the last step is lost."""

BASE = "actor_critic_corridor"
REPLACE = [
    ("ahead = reward[t] + GAMMA * ahead * ~terminated[t]", "ahead = (reward[t] + GAMMA * ahead) * ~terminated[t]"),
]
EXPECT = "DIS002"
TRAIN = {"updates": 60}
