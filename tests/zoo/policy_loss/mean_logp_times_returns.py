"""The log-probs are averaged before they are multiplied with the advantages: no step gets credit of its own."""

BASE = "a2c"
REPLACE = [("actor_loss = -(logp_new * advantage).mean()", "actor_loss = -(logp_new.mean() * advantage).mean()")]
EXPECT = "POL008"
TRAIN = {"updates": 120}
