"""The last observation is looked up by a name that Gymnasium gave up in 1.0 (BUF-06)."""

ALGO = "ppo"
REPLACE = [
    (
        'info["final_obs"][i]',
        'info["final_observation"][i]',
    ),
]
RUNG = "truncated-episode"
EXPECT = "EVA003"
SUSPECT = "buffer"
ALSO = {
    "evaluation": "the exception names its line itself: no component is guessed",
}
