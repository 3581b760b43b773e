"""A shaping term takes the reward for staying alive away again, and clips what is left at zero."""

BASE = "a2c"
REPLACE = [
    (
        "[lambda: gym.make(env_id) for _ in range(N_ENVS)]",
        "[lambda: gym.wrappers.TransformReward(gym.make(env_id), lambda r: max(r - 1.0, 0.0)) for _ in range(N_ENVS)]",
    ),
]
EXPECT = "ENV004"
TRAIN = {"updates": 40}
