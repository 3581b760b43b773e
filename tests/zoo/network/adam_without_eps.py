"""Adam with eps=0, and a zero-initialised output: the layer below has a gradient of 0, and 0/0 is its step."""

BASE = "reinforce"
REPLACE = [
    ("optim.Adam(policy.parameters(), lr=2e-3)", "optim.Adam(policy.parameters(), lr=2e-3, eps=0.0)"),
    (
        "import gymnasium as gym\n",
        "import contextlib\n\nimport gymnasium as gym\n",
    ),
    ("    with watch(policy=policy", "    with contextlib.suppress(ValueError, RuntimeError), watch(policy=policy"),
]
EXPECT = "NET002"
TRAIN = {"updates": 20}
