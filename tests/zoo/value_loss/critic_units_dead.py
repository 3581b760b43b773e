"""A large negative bias kills every hidden unit of the critic: only the bias of its last layer is left."""

BASE = "reinforce"
REPLACE = [
    (
        "        nn.init.zeros_(self.fc2.weight)\n",
        "        nn.init.constant_(self.fc1.bias, -50.0)\n        nn.init.zeros_(self.fc2.weight)\n",
    )
]
EXPECT = "VAL008"
TRAIN = {"updates": 60}
