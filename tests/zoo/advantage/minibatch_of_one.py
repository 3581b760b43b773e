"""The rollout is one row longer than a multiple of the minibatch: the last one has no standard deviation."""

BASE = "ppo_discrete"
REPLACE = [
    ("MINIBATCH = 64", "MINIBATCH = 85"),
    (
        "import gymnasium as gym\n",
        "import contextlib\nimport warnings\n\nimport gymnasium as gym\n",
    ),
    ("    with watch(policy=policy", "    with contextlib.suppress(ValueError, RuntimeError), watch(policy=policy"),
    (
        "                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)\n",
        "                    with warnings.catch_warnings():\n"
        '                        warnings.simplefilter("ignore")  # torch warns that one row has none\n'
        "                        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)\n",
    ),
]
EXPECT = "ADV006"
TRAIN = {"updates": 4}
