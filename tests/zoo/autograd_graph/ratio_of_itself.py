"""Old and new log-probs come from one forward pass, both with gradient: the ratio is 1 and its gradients cancel."""

BASE = "reinforce"
REPLACE = [
    (
        "policy_loss = -(log_probs * advantages).mean()",
        "policy_loss = -((log_probs - log_probs).exp() * advantages).mean()",
    ),
]
EXPECT = "GRA002"
TRAIN = {"updates": 40}
