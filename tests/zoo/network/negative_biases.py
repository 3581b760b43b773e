"""All biases start at −20: every rectifier is off on every row."""

BASE = "sac_like"
REPLACE = [
    (
        "        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)",
        "        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)\n"
        "\n"
        "\n"
        "def start(module):\n"
        "    if isinstance(module, nn.Linear):\n"
        "        nn.init.constant_(module.bias, -20.0)",
    ),
    ("    critic = TwinCritic(obs_dim, act_dim)\n", "    critic = TwinCritic(obs_dim, act_dim).apply(start)\n"),
]
EXPECT = "NET003"
TRAIN = {"updates": 120}
