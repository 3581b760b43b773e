"""The ratio is computed without a graph: no gradient reaches the policy (GRA-11)."""

ALGO = "ppo"
REPLACE = [
    (
        'log_ratio = logp - mb["logp"]',
        'log_ratio = logp.detach() - mb["logp"]',
    ),
]
RUNG = "action-reward"
EXPECT = "POL014"
SUSPECT = "policy-loss"
ALSO = {
    "autograd-graph": "the graph is cut on the way to the policy loss",
}
