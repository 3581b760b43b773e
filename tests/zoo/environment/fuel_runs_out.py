"""A wrapper counts down a budget of steps and calls its end a terminal state, though it is a time limit."""

BASE = "ppo_continuous"
REPLACE = [
    (
        "class RolloutBuffer:",
        """class Budget(gym.Wrapper):
    def reset(self, **kwargs):
        self.left = 30
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.left -= 1
        return obs, reward, terminated or self.left == 0, truncated, info


class RolloutBuffer:""",
    ),
    ("env = gym.make(env_id)", "env = Budget(gym.make(env_id))"),
]
EXPECT = "ENV006"
TRAIN = {"updates": 3}
