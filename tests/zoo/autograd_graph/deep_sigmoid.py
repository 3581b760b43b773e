"""Ten sigmoid layers: each passes on a tenth of the gradient."""

BASE = "a2c"
REPLACE = [
    ("layers += [nn.Linear(a, b), nn.Tanh()]", "layers += [nn.Linear(a, b), nn.Sigmoid()]"),
    ("actor = mlp([obs_size, 64, 64, n_actions])", "actor = mlp([obs_size, *[64] * 10, n_actions])"),
]
EXPECT = "GRA005"
ACCEPT = ("POL010",)  # a policy whose first layers do not learn cannot depend on the observation
TRAIN = {"updates": 120}
