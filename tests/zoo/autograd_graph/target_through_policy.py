"""The soft value of the next state is computed with gradient: the value loss trains the policy, too."""

BASE = "sac_like"
REPLACE = [
    (
        "            with torch.no_grad():\n                a2, logp2",
        "            with torch.enable_grad():\n                a2, logp2",
    ),
    ("                target=y,\n", "                target=y.detach(),\n"),
]
EXPECT = "GRA007"
TRAIN = {"updates": 60}
