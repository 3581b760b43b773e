"""The entropy is written by hand, with a logarithm to base 2: in bits, it is 1.44 times what the bonus is tuned for."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "entropy_loss = -dist.entropy().mean()",
        "entropy = -(dist.probs * torch.log2(dist.probs)).sum(-1)\n                    entropy_loss = -entropy.mean()",
    ),
    (
        "                        clip=CLIP,",
        "                        clip=CLIP,\n                        entropy=entropy,",
    ),
]
EXPECT = "ENT006"
TRAIN = {"updates": 12}
