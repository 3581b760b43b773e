"""The divergence is estimated with new and old swapped, on samples of the old policy: it comes out negative."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "                        clip=CLIP,",
        "                        clip=CLIP,\n                        kl=logp - logp_old,",
    )
]
EXPECT = "POL001"
TRAIN = {"updates": 20}
