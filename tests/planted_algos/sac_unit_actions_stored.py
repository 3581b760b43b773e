"""Actions are played in the range of the space and stored on a scale of −1 … 1 (BUF-09)."""

ALGO = "sac"
REPLACE = [
    (
        "replay.add(obs, action, reward, true_next",
        "replay.add(obs, ((action - now.centre.numpy()) / now.reach.numpy()).astype(np.float32), reward, true_next",
    ),
]
RUNG = "squashed-range"
EXPECT = "ACT011"
SUSPECT = "action-sampling"
ALSO = {
    "buffer": "the buffer holds the action on another scale",
}
CONTROLS = True
