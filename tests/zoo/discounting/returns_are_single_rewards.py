"""The return of a step is its reward alone: nothing is bootstrapped or summed."""

BASE = "actor_critic_corridor"
REPLACE = [("ahead = reward[t] + GAMMA * ahead * ~terminated[t]", "ahead = reward[t]")]
EXPECT = "DIS001"
TRAIN = {"updates": 100}
