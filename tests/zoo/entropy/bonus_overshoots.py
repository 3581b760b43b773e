"""A penalty holds the entropy at a target, and plain gradient descent overshoots it at every step."""

BASE = "ppo_continuous"
REPLACE = [
    ("total = pi_loss + 0.5 * vf_loss", "total = pi_loss + 0.5 * vf_loss + 99.9 * (dist.entropy().mean() - 0.5) ** 2"),
    ("torch.optim.Adam(self.net.parameters(), lr=lr)", "torch.optim.SGD(self.net.parameters(), lr=0.01)"),
    ("max_norm=0.5", "max_norm=1e9"),
]
EXPECT = "ENT003"
TRAIN = {"updates": 5}
# The same steps take the policy far from its data within each rollout.
ACCEPT = ("POL002", "POL006", "POL009")
