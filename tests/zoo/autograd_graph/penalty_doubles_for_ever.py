"""An adaptive penalty that is only ever raised: its coefficient, and with it the gradient, grows without bound."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "loss = policy_loss + VF_COEF * value_loss + ENT_COEF * entropy_loss",
        "loss = policy_loss + VF_COEF * value_loss + ENT_COEF * entropy_loss\n"
        "                    loss = loss + beta * (logp - logp_old).square().mean()\n"
        "                    beta *= 1.1",
    ),
    ("                    nn.utils.clip_grad_norm_(parameters, MAX_GRAD_NORM)\n", ""),
    (
        "    optimizer = torch.optim",
        "    beta = 1.0\n    optimizer = torch.optim",
    ),
]
EXPECT = "GRA004"
TRAIN = {"updates": 16}
