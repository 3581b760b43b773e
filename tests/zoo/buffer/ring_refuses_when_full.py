"""A full replay buffer takes in nothing new instead of overwriting its oldest rows."""

BASE = "dqn"
REPLACE = [
    (
        "    def add(self, obs, action, reward, next_obs, terminated, truncated, born):\n",
        "    def add(self, obs, action, reward, next_obs, terminated, truncated, born):\n"
        "        if self.full:\n"
        "            return\n",
    ),
    ('"buffer_size": 10_000', '"buffer_size": 1_000'),
]
EXPECT = "BUF002"
TRAIN = {"updates": 1200}
