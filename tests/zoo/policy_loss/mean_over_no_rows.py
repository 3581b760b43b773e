"""The policy loss is averaged over the rows outside the clip range; in the first minibatch there are none."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "policy_loss = -torch.min(ratio * advantage, clipped_ratio * advantage).mean()",
        "outside = (ratio != clipped_ratio).float()\n"
        "                    policy_loss = -(ratio * advantage * outside).sum() / outside.sum()",
    ),
    (
        "import gymnasium as gym\n",
        "import contextlib\n\nimport gymnasium as gym\n",
    ),
    ("    with watch(policy=policy", "    with contextlib.suppress(ValueError, RuntimeError), watch(policy=policy"),
]
EXPECT = "POL011"
TRAIN = {"updates": 4}
