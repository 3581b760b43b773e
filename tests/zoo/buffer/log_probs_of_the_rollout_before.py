"""A double buffer is swapped one rollout late: the old log-probs belong to the actions of the rollout before."""

BASE = "ppo_continuous"
REPLACE = [
    (
        "        self.targets = self.advantages + self.values\n",
        "        self.targets = self.advantages + self.values\n"
        '        self.read, self.written = getattr(self, "written", self.logps.copy()), self.logps.copy()\n',
    ),
    (
        "arrays = (self.obs, self.actions, self.logps, self.advantages, self.targets)",
        "arrays = (self.obs, self.actions, self.read, self.advantages, self.targets)",
    ),
]
EXPECT = "BUF003"
TRAIN = {"updates": 10}
