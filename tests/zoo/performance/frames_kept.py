"""Frames are kept after every update, for a video that is never written."""

BASE = "a2c"
REPLACE = [
    ("    finished, score = [], np.zeros(N_ENVS)\n", "    finished, score, frames = [], np.zeros(N_ENVS), []\n"),
    (
        "            actor_opt.step()\n",
        "            actor_opt.step()\n            frames.append(np.full((4, 400, 600, 3), 255, np.uint8))\n",
    ),
]
EXPECT = "PRF004"
TRAIN = {"updates": 500}
WALL_CLOCK = True
