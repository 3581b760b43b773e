"""The value loss is computed and logged, but not added to the loss that is backpropagated."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "loss = policy_loss + VF_COEF * value_loss + ENT_COEF * entropy_loss",
        "loss = policy_loss + ENT_COEF * entropy_loss",
    ),
]
EXPECT = "GRA003"
TRAIN = {"updates": 12}
