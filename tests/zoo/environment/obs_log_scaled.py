"""Velocities are squeezed by a logarithm that is not defined below −1: NaN observations go into replay."""

BASE = "sac_like"
REPLACE = [
    (
        "                obs, _ = env.reset()\n            if step < WARMUP",
        "                obs, _ = env.reset()\n"
        '            with np.errstate(all="ignore"):\n'
        "                obs = np.log1p(obs)\n"
        "            if step < WARMUP",
    ),
]
EXPECT = "ENV002"
TRAIN = {"updates": 60}
