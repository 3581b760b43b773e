"""The environment reports `terminated` while the pole stands: every episode is over after one step."""

BASE = "a2c"
REPLACE = [
    (
        "def mlp(sizes):",
        """class Balance(gym.Wrapper):
    def step(self, action):
        obs, reward, fallen, truncated, info = self.env.step(action)
        return obs, reward, not fallen, truncated, info


def mlp(sizes):""",
    ),
    ("[lambda: gym.make(env_id) for _ in range(N_ENVS)]", "[lambda: Balance(gym.make(env_id)) for _ in range(N_ENVS)]"),
]
EXPECT = "ENV008"
TRAIN = {"updates": 60}
