"""The policy loss has the wrong sign, and the loop hands over so little that only the returns can tell."""

BASE = "a2c"
REPLACE = [
    ("ACTOR_LR, CRITIC_LR = 1e-3, 3e-3", "ACTOR_LR, CRITIC_LR = 3e-4, 3e-3"),
    ("actor_loss = -(logp_new * advantage).mean()", "actor_loss = (logp_new * advantage).mean()"),
    (
        """                loss={"policy": actor_loss, "value": critic_loss, "entropy": bonus},
                logp_old=batch["logp"][valid],
                logp_new=logp_new,
                value=value,
                target=target,
                advantage=advantage,
                dist=pi,
""",
        "                value=value,\n                target=target,\n",
    ),
]
EXPECT = "EVA001"
TRAIN = {"updates": 240}
