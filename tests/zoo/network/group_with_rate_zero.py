"""The trunk is in a parameter group of its own, with a learning rate of 0."""

BASE = "ppo_continuous"
REPLACE = [
    (
        "self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)",
        "heads = [*self.net.mean_head.parameters(), *self.net.value_head.parameters(), self.net.log_std]\n"
        '        groups = [{"params": heads}, {"params": self.net.trunk.parameters(), "lr": 0.0}]\n'
        "        self.opt = torch.optim.Adam(groups, lr=lr)",
    ),
]
EXPECT = "NET005"
TRAIN = {"updates": 3}
