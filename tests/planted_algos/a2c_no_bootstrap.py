"""The rollout ends in 0, not in the value of what comes after (ADV-20)."""

ALGO = "a2c"
REPLACE = [
    (
        "last_value=model.critic(as_tensor(space, obs, device)),",
        "last_value=torch.zeros(settings.envs),",
    ),
]
RUNG = "truncated-episode"
EXPECT = "DIS016"
SUSPECT = "discounting"
ALSO = {
    "advantage": "what a rollout is continued with is decided where advantages are",
}
