"""Each gradient is divided by its own norm; a zero-initialised output leaves the layer below it with a norm of 0."""

BASE = "reinforce"
REPLACE = [
    (
        "            policy_loss.backward()\n",
        "            policy_loss.backward()\n"
        "            for p in policy.parameters():\n"
        "                p.grad /= p.grad.norm()\n",
    ),
    (
        "import gymnasium as gym\n",
        "import contextlib\n\nimport gymnasium as gym\n",
    ),
    ("    with watch(policy=policy", "    with contextlib.suppress(ValueError, RuntimeError), watch(policy=policy"),
]
EXPECT = "GRA001"
TRAIN = {"updates": 20}
